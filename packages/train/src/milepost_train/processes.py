"""Where a run computes: its device and numbers, and several processes, one for each device.

These share the windows of every batch. All of them draw the same batches from the same random
numbers. Each encodes its share of a batch's windows, receives the vectors of the others, computes
the loss of all of them, and sends the gradients of its own windows back; then the gradients of the
weights are summed. So a step with four processes is the step of one, negatives included, but for
rounding and dropout, and the objectives need no change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from zlib import crc32

import torch
import torch.distributed as dist
from torch import Tensor

from milepost._optional import require
from milepost.errors import InputError, MilepostError
from milepost_train.batches import Batch
from milepost_train.config import Dtype


def chosen_device(name: str) -> torch.device:
    """The device of that name; ``auto`` takes the best one there is."""
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


def number_of() -> int:
    """Which process of the run this is, from 0; set by torchrun or accelerate launch."""
    return int(os.environ.get("RANK", 0)) if several() else 0


def several() -> bool:
    """Whether a launcher started more than one process."""
    return int(os.environ.get("WORLD_SIZE", 1)) > 1


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """The processes of this run, which find each other here; this one alone without a launcher."""
    if not several():
        yield Processes(device)
        return
    accelerate = require("accelerate", extra="train")
    local = int(os.environ.get("LOCAL_RANK", 0))
    if device.type != "cpu" and not local < torch.cuda.device_count():
        raise InputError(
            f"there is no GPU for process {local + 1} on this machine",
            f"start {max(1, torch.cuda.device_count())}, or add --device cpu",
        )
    state = accelerate.PartialState(cpu=device.type == "cpu")
    if state.num_processes == 1:
        raise InputError(
            "the launcher started several processes, but they do not find each other",
            "torchrun --nproc-per-node N -m milepost train …",
        )
    try:
        yield Processes(state.device, state.process_index, state.num_processes)
    finally:
        state.destroy_process_group()


@dataclass(frozen=True, slots=True)
class Processes:
    """Which process this is, from 0, and of how many; the first writes the run's folder."""

    device: torch.device
    number: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this one writes files and reports."""
        return self.number == 0

    def encode(self, encode: Callable[[Batch], Tensor], batch: Batch, width: int) -> Tensor:
        """``(n, d)`` vectors of a batch's landmarks in the order of its owners.

        Each process encodes a share; the vectors of the others are constants.
        """
        if self.count == 1:
            return encode(batch)
        if len(set(self.each(crc32(batch.ids.numpy().tobytes())))) > 1:
            raise MilepostError(
                "the processes have drawn different batches",
                "the same data, run folder and versions for all of them; then --resume",
            )
        windows = len(batch.ids)
        edges = [windows * n // self.count for n in range(self.count + 1)]
        sizes = [int(batch.used[a:b].sum()) for a, b in pairwise(edges)]
        first, last = edges[self.number : self.number + 2]
        # Where the share is empty, the first window and none of its landmarks.
        share = slice(first, last) if first < last else slice(0, 1)
        used = batch.used[share] if first < last else torch.zeros_like(batch.used[share])
        begin = sum(sizes[: self.number])
        owners = batch.owners[begin : begin + sizes[self.number]]
        mine = Batch(batch.ids[share], batch.sentences[share], batch.marks[share], used, owners)
        own = encode(mine)
        sent = torch.zeros(max(sizes), width, device=self.device)
        sent[: len(own)] = own.detach()
        received = [torch.empty_like(sent) for _ in sizes]
        dist.all_gather(received, sent)
        parts = [rows[:size] for rows, size in zip(received, sizes, strict=True)]
        parts[self.number] = own.float()
        return torch.cat(parts)

    def sum_gradients(self, weights: Iterable[Tensor]) -> None:
        """Add up the gradients of all processes, in place."""
        if self.count == 1:
            return
        every = list(weights)
        held = torch.tensor([w.grad is not None for w in every], dtype=torch.int8)
        held = held.to(self.device)
        dist.all_reduce(held, dist.ReduceOp.MAX)
        for weight in (w for w, some in zip(every, held.tolist(), strict=True) if some):
            if weight.grad is None:  # it had no window of this batch
                weight.grad = torch.zeros_like(weight)
            dist.all_reduce(weight.grad)

    def each(self, own: Any) -> list[Any]:
        """What every process has, in their order."""
        if self.count == 1:
            return [own]
        found: list[Any] = [None] * self.count
        dist.all_gather_object(found, own)
        return found
