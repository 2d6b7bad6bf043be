"""The pooling lab: experiments on turning many vectors into few, one file a question.

Comes in: a model, data, an operator of ``pooling`` (NumPy) or ``model.pooling`` (torch).
Goes out: a table, a plot, a record. Nothing of it is needed to search.
"""
