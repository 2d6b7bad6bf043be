"""The command line: one file for each command, which runs with nothing but click imported before.

In:      arguments, environment variables, stdin.
Out:     results on stdout, everything else on stderr, an exit code (0 found, 1 nothing found,
         2 error, 130 interrupted).
Refuses: to search or encode; each command calls the library and prints what it returns.
"""

import sys


def main() -> None:
    """Run ``milepost`` on the arguments of the process."""
    try:
        from milepost.cli import program

        program.main()
    except KeyboardInterrupt:  # before or after the command: while modules load, or Python ends
        sys.stderr.write("milepost: interrupted\n")
        sys.exit(130)
