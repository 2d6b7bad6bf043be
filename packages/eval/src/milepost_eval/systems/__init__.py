"""Ways of finding places, Milepost's own and its rivals', behind ``types.System``.

In:      documents, questions.
Out:     rankings of units: sentences, chunks, whole documents.
Refuses: to know of evidence and metrics.
Read:    ``units.py`` (units and rankings of them), ``splitters.py`` (documents to units), then one
         file a way: ``landmark.py`` (ours), ``lexical.py``, ``dense.py``, ``late.py``,
         ``whole.py``; ``fused.py`` puts two together; ``../factory.py``.
"""
