"""How many servers fit under one power budget when their clocks may be lowered (POLCA, 2308.12908).

Comes in: a fleet, its traffic, a controller. Goes out: latencies, energy,
brakes and time over budget, as tables with intervals over seeds.

Read in this order: ``server.py`` (watts and speed at a clock), ``traffic.py`` (requests over time),
``policy.py`` (all constants and their sources), ``controller.py`` (POLCA's rules, no I/O),
``controllers.py`` (the baselines), ``faults.py``, ``row.py`` (the simulator), ``measured.py`` (the
figures of one run), ``study.py`` (many runs), ``sweeps.py``, ``report.py``; ``speed.py`` and
``live.py`` measure the real engine.
"""
