"""What commands share: terminal, columns, options, progress, JSON records.

In:      the results of a command.
Out:     lines on stdout and stderr, coloured on a terminal with colours; JSON.
Refuses: to read files, to search, to know which command calls it.
Read:    ``screen.py`` (safe characters, width, colours), ``options.py`` (options that several
         commands have), ``progress.py``, ``records.py`` (results as JSON).
"""
