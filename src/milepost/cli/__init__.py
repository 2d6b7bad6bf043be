"""The command line: one file for each command.

In:      arguments, environment variables, stdin.
Out:     results on stdout, everything else on stderr, an exit code (0 found, 1 nothing found,
         2 error, 130 interrupted).
Refuses: to search or encode; each command calls the library and prints what it returns.
Read:    ``program.py`` (commands, errors, exit codes), ``search.py`` with ``sources.py`` (files to
         an index) and ``answer.py`` (passages as text), then the other commands. What commands
         share is in ``milepost.cli.console``.

Only click is imported before a command runs.
"""

from milepost.cli.program import main

__all__ = ["main"]
