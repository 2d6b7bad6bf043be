"""Tasks: documents, questions, marked evidence, wherever they come from.

In:      a name or a path, and which split.
Out:     ``Task`` (``../types.py``); what a source holds and the task does not is in its ``notes``.
Refuses: to know of systems and metrics; to skip a line it cannot use.
Read:    ``names.py`` (a name to a task), ``reading.py`` (lines and their mistakes), ``own.py`` and
         ``shared.py`` (span-labelled files), ``judged.py`` (BEIR), ``articles.py`` (made from plain
         text), ``protocol.py`` (what settings may be chosen on, smaller tasks, several as one).
"""

from milepost_eval.tasks.names import load
from milepost_eval.tasks.protocol import for_tuning, take, together

__all__ = ["for_tuning", "load", "take", "together"]
