"""What every command shares on a terminal: screen, columns, options, progress, JSON records.

In:      what a command found.
Out:     lines on stdout and stderr, coloured where a terminal shows colours; JSON.
Refuses: to read files, to search, to know which command calls it.
Read:    ``screen.py`` (what may be printed, and how wide), ``options.py`` (options that several
         commands have), ``columns.py``, ``progress.py``, ``records.py`` (results as JSON).
"""
