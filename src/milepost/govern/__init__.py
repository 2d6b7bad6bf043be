"""Keep power or processor time within a budget: bulk work slows down, searches do not.

In:      power or processor time, as a share of a budget, every few seconds.
Out:     commands to slow down, halt or continue.
Refuses: everything but the standard library and Milepost's errors: the simulator of
         ``milepost_lab.power`` and a live server drive the same controller.
Read:    ``policy.py`` (all constants and their sources), ``controller.py`` (the rules, no I/O),
         ``meters.py`` and ``sensor.py`` (measurements), ``governor.py`` (the controller in a
         process).
"""

from milepost.govern.controller import Command, Controller, Target
from milepost.govern.governor import Governor, Status
from milepost.govern.policy import LIVE, PAPER, Policy
from milepost.govern.sensor import Sensor, open_sensor

__all__ = [
    "LIVE",
    "PAPER",
    "Command",
    "Controller",
    "Governor",
    "Policy",
    "Sensor",
    "Status",
    "Target",
    "open_sensor",
]
