"""An index: documents in, passages out.

In:      files, folders, objects, documents; questions.
Out:     an index that can be searched; passages, checks of quotations, reports.
Refuses: to print, and to keep anything beside the store.
Read:    ``facade.py`` (``Index``: what can be asked of it), ``adding.py`` (files to entries of a
         store; ``intake.py`` and ``entries.py`` below it), ``removing.py`` (documents out, and what
         shows it), ``opening.py`` (a place and a model to an ``Index``), ``workers/`` (several
         machines).
"""

from milepost.index.facade import Index, Source
from milepost.index.opening import open
from milepost.index.removing import RemovalReport

__all__ = ["Index", "RemovalReport", "Source", "open"]
