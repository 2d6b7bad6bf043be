"""Where a run computes and in which numbers, chosen by what the machine has."""

from __future__ import annotations

import torch

from milepost.errors import InputError
from milepost_train.config import Dtype


def chosen_device(name: str) -> torch.device:
    """The device of that name; ``auto`` takes the best one there is.

    Raises:
        InputError: it is not there.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next((each for each, usable in there.items() if usable), "cpu")
    if not there.get(name, True):
        usable = [each for each, good in there.items() if good]
        raise InputError(
            f"torch has no device {name!r} here", f"--device {' or '.join([*usable, 'cpu'])}"
        )
    return torch.device(name)


def chosen_dtype(name: Dtype, device: torch.device) -> Dtype:
    """The dtype of that name; ``auto`` takes bfloat16 where the device supports it in hardware.

    Elsewhere it is emulated, and a step takes several times as long as in float32.
    """
    if name != "auto":
        return name
    if device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    elif device.type == "cpu":
        # The names of torch's C++ side; there are no public ones.
        asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
        fast = any(getattr(torch.cpu, each, lambda: False)() for each in asked)
    else:
        fast = False
    return "bfloat16" if fast else "float32"
