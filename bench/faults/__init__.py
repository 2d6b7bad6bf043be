"""Parts of ``bench/stress.py``: hostile files, kills, full disks.

Read: ``originals.py`` (good files), ``mutations.py`` and ``crafted.py`` (what is done to them),
``files.py`` (reading them); ``workload.py`` (documents, the right index), ``kills.py``,
``serving.py``, ``disks.py``; ``log.py`` (a line a case).
"""
