"""What documents say of a claim or quotation: verbatim, near, supported, contradicted.

In:      sentences of a claim, the documents of an index.
Out:     a verdict for each sentence, with the place that decides it.
Refuses: to change the index.
Read:    ``check.py`` (quotations first, then claims), ``claims/`` (rules and the judge).
"""
