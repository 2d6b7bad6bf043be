"""Create, check and run user-defined torch poolings (``milepost_lab.pooling.register``).

A new pooling is first tried on two random texts of different length, so that a wrong shape, NaN, a
vector that depends on padding, a failing backward pass, or unsaved state raises an error that names
the pooling.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost.errors import InputError, MilepostError, first_line
from milepost_lab.model.pooling.module import PoolModule, padded
from milepost_lab.pooling.operator import Batch, Operator
from milepost_lab.pooling.ragged import owners

_WANTED = "forward(states (B, N, d), mask (B, N)) that returns (B, d_out) or (B, k, d_out)"
_TRIED = (5, 3)  # tokens of the texts of a trial


class OutsideModule(PoolModule):
    """A user-defined module behind the interface of ``PoolModule``.

    Args:
        operator: an operator with ``make``.
        settings: all settings, validated.
        width: d of the states.
        query_width: d of the queries; 0 without queries.
        layers: number of layers of the states.
        seed: seed of the initial weights.
        tried: whether to try the module on random texts.

    Raises:
        InputError: the module cannot be made, fails in its forward or backward pass, gives a wrong
            shape or NaN, reads padding, or keeps state outside its state_dict.
    """

    def __init__(
        self,
        operator: Operator,
        settings: Mapping[str, Any],
        width: int,
        query_width: int = 0,
        layers: int = 1,
        seed: int = 0,
        *,
        tried: bool = True,
    ) -> None:
        nn.Module.__init__(self)
        self.operator, self.settings, self.width = operator, dict(settings), width
        self.layers, self._query_width = layers, query_width
        rng = np.random.default_rng(seed)
        self.inner = _made(operator, settings, width, query_width, layers, rng)
        if tried:
            # The twin has other initial weights, so all randomly drawn state differs.
            twin = OutsideModule(
                operator, settings, width, query_width, layers, seed + 1, tried=False
            )
            with torch.random.fork_rng(devices=[]):
                self._try(twin)

    def pool(
        self, states: Tensor, mask: Tensor, queries: Tensor | None, segments: Tensor
    ) -> Tensor:
        """See ``PoolModule.pool``; each of several queries of a text becomes a separate text."""
        if queries is None or queries.ndim == 2:
            return self._vectors(states, mask, queries, segments)
        many = queries.shape[1]
        repeated = [side.repeat_interleave(many, 0) for side in (states, mask, segments)]
        vectors = self._vectors(repeated[0], repeated[1], queries.flatten(0, 1), repeated[2])
        return vectors.unflatten(0, (-1, many))

    def _vectors(
        self, states: Tensor, mask: Tensor, queries: Tensor | None, segments: Tensor
    ) -> Tensor:
        name, needs = self.operator.name, self.operator.needs
        more: dict[str, Any] = {"queries": queries} if "queries" in needs else {}
        if "segments" in needs:
            more["segments"] = segments
        try:
            vectors = self.inner(states, mask, **more)
        except (MilepostError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # user code may raise anything
            raise InputError(
                f"{name} fails on states of the shape {tuple(states.shape)}: "
                f"{type(error).__name__}: {first_line(error)}",
                _WANTED,
            ) from error
        if not isinstance(vectors, Tensor) or not vectors.is_floating_point():
            given = vectors.dtype if isinstance(vectors, Tensor) else type(vectors).__name__
            raise InputError(f"{name} returns {given}, not a tensor of floats", _WANTED)
        several = vectors.ndim == 3 and "queries" not in needs
        if (
            (vectors.ndim != 2 and not several)
            or len(vectors) != len(states)
            or 0 in vectors.shape[1:]
        ):
            wanted = _WANTED.replace(" or (B, k, d_out)", "") if "queries" in needs else _WANTED
            raise InputError(
                f"{name} returns the shape {tuple(vectors.shape)} for {len(states)} texts", wanted
            )
        return vectors.float()

    def _try(self, twin: OutsideModule) -> None:
        """Pool two random texts, together and alone; train the twin and load these weights."""
        name, training = self.operator.name, self.training
        texts = self._texts()
        states, lengths, queries, segments = texts
        short = int(lengths[1])
        self.eval()
        with torch.no_grad():
            together = self(*texts)
            alone = self(
                states[1:, :short],
                lengths[1:],
                None if queries is None else queries[1:],
                segments[1:, :short],
            )
        if not torch.isfinite(together).all():
            raise InputError(
                f"{name} gives NaN or infinity for a text of {_TRIED[1]} tokens and padding",
                "masked_fill(~mask[..., None], 0), and no logarithm, root or quotient of 0",
            )
        if together.shape[1:] != alone.shape[1:]:
            raise InputError(
                f"{name} gives the shape {tuple(alone.shape[1:])} for a text alone, and "
                f"{tuple(together.shape[1:])} beside a longer one",
                "as many vectors for each text, of one width",
            )
        if not torch.allclose(together[1:], alone, rtol=1e-3, atol=1e-4):
            raise InputError(
                f"{name} reads padding: a text has another vector beside a longer one",
                "states.masked_fill(~mask[..., None], 0), and mask.sum(1) for the number of tokens",
            )
        # Train first, because state that changes in training must be saved as well.
        twin.train()._learn(texts)
        twin._load(self.state_dict())
        with torch.no_grad():
            again = twin.eval()(*texts)
        noise = 1e-5 * float(together.abs().max())
        if again.shape != together.shape or not torch.allclose(again, together, 1e-3, noise):
            raise InputError(
                f"{name} keeps state outside its state_dict: another module gives other vectors "
                "with the same weights",
                "self.register_buffer(NAME, tensor), persistent, for each tensor that is not a "
                "parameter",
            )
        self.train(training)

    def _texts(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """Make two random texts as arguments of ``forward``."""
        spread = torch.Generator().manual_seed(0)
        axes = (self.layers, self.width) if "layers" in self.operator.needs else (self.width,)
        states, lengths = padded([torch.randn(size, *axes, generator=spread) for size in _TRIED])
        asked = torch.randn(len(_TRIED), self._query_width or self.width, generator=spread)
        segments, _ = padded([torch.arange(size) // 2 for size in _TRIED])
        return states, lengths, asked if "queries" in self.operator.needs else None, segments

    @torch.enable_grad()
    def _learn(self, texts: tuple[Tensor, Tensor, Tensor | None, Tensor]) -> None:
        """Run one forward and one backward pass, as a training step does."""
        vectors = self(*texts)
        if not vectors.requires_grad:
            return
        try:
            vectors.square().sum().backward()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # user code may raise anything
            raise failed_backward(self.operator.name, error) from error

    def _load(self, state: Mapping[str, Tensor]) -> None:
        """Load weights and buffers of a module with the same operator and settings."""
        try:
            self.load_state_dict(state)
        except RuntimeError as error:
            raise InputError(
                f"the state_dict of {self.operator.name} does not fit another module of the same "
                f"settings: {' '.join(str(error).split())}",
                "parameters and buffers made in __init__, of shapes that settings alone decide",
            ) from error


def failed_backward(name: str, error: Exception) -> InputError:
    """Make the error for a user-defined pooling whose backward pass fails."""
    return InputError(
        f"{name} fails in its backward pass: {type(error).__name__}: {first_line(error)}",
        "x = x * y in place of x *= y, for whatever the gradient needs",
    )


def start(
    operator: Operator,
    settings: Mapping[str, Any],
    width: int,
    query_width: int,
    layers: int,
    rng: np.random.Generator,
) -> dict[str, NDArray[np.float32]]:
    """Create initial weights by name; see ``Operator.begun``."""
    inner = _made(operator, settings, width, query_width, layers, rng)
    return {
        f"inner.{name}": weight.detach().numpy().astype(np.float32)
        for name, weight in inner.state_dict().items()
    }


@torch.no_grad()
def compute(
    operator: Operator,
    batch: Batch,
    settings: Mapping[str, Any],
    weights: Mapping[str, NDArray[np.float32]],
) -> NDArray[np.floating]:
    """See ``Operator.compute``; runs the module on padded states."""
    asked = 0 if batch.queries is None else batch.queries.shape[1]
    module = OutsideModule(operator, settings, batch.width, asked, batch.layers)
    module.load_state_dict({name: torch.from_numpy(np.array(w)) for name, w in weights.items()})
    numbers = np.repeat(np.arange(len(batch.segments)), batch.segments)
    first = np.cumsum(batch.per_text) - batch.per_text
    numbers -= first[owners(batch.lengths)]
    cuts = np.cumsum(batch.lengths)[:-1].tolist()
    states, lengths = padded([torch.from_numpy(part) for part in np.split(batch.states, cuts)])
    segments, _ = padded([torch.from_numpy(part) for part in np.split(numbers, cuts)])
    queries = None if batch.queries is None else torch.from_numpy(batch.queries)
    vectors: NDArray[np.floating] = module.eval()(states, lengths, queries, segments).numpy()
    return vectors


def _made(
    operator: Operator,
    settings: Mapping[str, Any],
    width: int,
    query_width: int,
    layers: int,
    rng: np.random.Generator,
) -> nn.Module:
    """Create the user-defined module, with weights drawn from ``rng``."""
    make = operator.make
    if make is None:
        raise ValueError(f"{operator.name} is none of others")
    takes = inspect.signature(make).parameters
    known = {"query_width": query_width, "layers": layers}
    more = {name: value for name, value in known.items() if name in takes}
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            inner = make(width, **settings, **more)
    except Exception as error:  # user code may raise anything
        raise InputError(
            f"{operator.name} cannot be made for states of width {width}: "
            f"{type(error).__name__}: {first_line(error)}",
            "settings that fit the width, as in NAME:setting=value",
        ) from error
    if not isinstance(inner, nn.Module):
        raise InputError(
            f"{operator.name} makes {type(inner).__name__}, not a torch.nn.Module", _WANTED
        )
    return inner
