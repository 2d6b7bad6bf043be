"""Power and processor time under a budget: bulk work slows down, searches do not.

Comes in: what is drawn, as a share of a budget, every few seconds. Goes out: orders to slow down,
halt or go on. Standard library alone, and nothing of Milepost but its errors: the simulator of
``milepost.lab.power`` and a live server drive the very same controller.

Read in this order: ``policy.py`` (every constant and where it is from), ``controller.py`` (the
rules, no I/O), ``meters.py`` and ``sensor.py`` (what is drawn), ``governor.py`` (the controller at
work in a process).
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
