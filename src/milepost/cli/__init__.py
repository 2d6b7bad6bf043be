"""The command line: words typed in, passages and reports out.

Comes in: arguments, the environment, stdin. Goes out: results on stdout, everything else on
stderr, an exit code (0 found, 1 nothing found, 2 error, 130 interrupted). It refuses to know how
anything is found: each command calls the house and prints what it says. This is the only room
that reads ``MILEPOST_DB``, ``NO_COLOR`` and the like.

Read in this order: ``program.py`` (the door: commands, errors, exit codes), ``options.py`` (what
commands share), ``search.py`` with ``sources.py`` (files to an index), ``answer.py`` (passages for
people), ``records.py`` (for programs), then the other commands, a file each.
Nothing but click is imported before a command runs.
"""

from milepost.cli.program import main

__all__ = ["main"]
