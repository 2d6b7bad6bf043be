"""``milepost lab quality``: whether vectors separate labels, and what another model changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost._optional import require
from milepost.console.columns import columns
from milepost.console.group import CommandGroup
from milepost.console.options import (
    FILE,
    Settings,
    common,
    count_option,
    json_option,
    model_option,
    say,
)
from milepost.console.progress import Counter
from milepost.console.records import as_plain, print_json
from milepost.errors import InputError, MissingExtra
from milepost_lab.options import controls_option, needs_torch, seed_option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.types import Reader
    from milepost_lab.controls.readers import ControlReader
    from milepost_lab.quality.drift import Drift
    from milepost_lab.quality.layers import Mixture
    from milepost_lab.quality.study import View
    from milepost_lab.quality.texts import Progress, Texts


@click.group(
    "quality",
    cls=CommandGroup,
    short_help="Measure how well vectors separate labels, or drift.",
    epilog="""\b
Examples:
  milepost lab quality separation texts.jsonl
  milepost lab quality separation texts.jsonl --landmarks --model my-model/
  milepost lab quality layers texts.jsonl --network my-checkpoint/
  milepost lab quality drift texts.jsonl --model old/ --against new/

\b
TEXTS are JSON lines with "text", "label" and optionally "source". See docs/pooling/quality.md.""",
)
def command() -> None:
    """Measure existing vectors: whether they separate labels, and what another model changes."""


_permutations = count_option(
    "--permutations", 99, "Permutations of the labels; the smallest possible p is 1/(N+1)."
)
_seed = seed_option("Seed of permutations, draws and folds.")


@command.command("separation", short_help="Measure how well a model's vectors separate labels.")
@click.argument("texts", type=FILE)
@model_option
@click.option(
    "--landmarks", is_flag=True, help="Measure the vector of every sentence, not of every text."
)
@_permutations
@controls_option
@_seed
@json_option
@common
@click.pass_obj
def separation(
    settings: Settings,
    texts: Path,
    model: str | None,
    landmarks: bool,
    permutations: int,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Measure how well a model's vectors of TEXTS separate their labels, and permuted labels."""
    given = _labelled(texts)
    readers = _readers(controls, settings)
    with Counter(settings) as counter:
        found = _report(given, model, readers, landmarks, permutations, seed, counter.steps_of())
    _print([asdict(one) for one in found], _views(found), as_json=as_json)
    return 0


@command.command("layers", short_help="Measure which layers of a network separate labels.")
@click.argument("texts", type=FILE)
@click.option(
    "--network",
    metavar="FOLDER",
    required=True,
    help="A network of transformers: a folder, or its name on the hub.",
)
@_permutations
@controls_option
@_seed
@json_option
@common
@click.pass_obj
@needs_torch
def layers(
    settings: Settings,
    texts: Path,
    network: str,
    permutations: int,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Measure how well each layer of a network, and all together, separate the labels of TEXTS.

    Weights of layers are trained on half of the texts and measured on the other half.
    """
    given = _labelled(texts)
    readers = _readers(controls, settings)
    with Counter(settings) as counter:
        found = _by_layer(given, network, readers, permutations, seed, counter.steps_of())
    _print([asdict(one) for one in found], _mixtures(found), as_json=as_json)
    return 0


@command.command("drift", short_help="Compare two models' vectors of the same texts.")
@click.argument("texts", type=FILE)
@model_option
@click.option(
    "--against", metavar="NAME|FOLDER", required=True, help="The model that would replace it."
)
@count_option("--neighbours", 10, "Number of neighbours of each text that are compared.")
@click.option(
    "--min-kept",
    type=click.FloatRange(0, 1),
    default=0.5,
    metavar="X",
    help="Share of kept neighbours below which the alarm is raised.",
)
@controls_option
@_seed
@json_option
@common
@click.pass_obj
def drift(
    settings: Settings,
    texts: Path,
    model: str | None,
    against: str,
    neighbours: int,
    min_kept: float,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Compare two models' vectors of TEXTS: the share of kept neighbours, and the labels if any.

    The exit code is 1 if an alarm is raised.
    """
    from milepost_lab.quality.texts import read_texts

    given = read_texts(texts)
    readers = _readers(controls, settings)
    with Counter(settings) as counter:
        progress = counter.steps_of()
        found = _drift(given, model, against, readers, neighbours, min_kept, seed, progress)
    _print(asdict(found), _changes(found), as_json=as_json)
    return 1 if found.alarms else 0


def _labelled(path: Path) -> Texts:
    """Read a file in which every line has a label.

    Raises:
        InputError: the lines have no label.
    """
    from milepost_lab.quality.texts import read_texts

    given = read_texts(path)
    if not given.labels:
        raise InputError(f"{path}: the lines have no label", 'lines with "text" and "label"')
    return given


def _print(found: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print the result as JSON or as lines of text."""
    if as_json:
        print_json({"quality": as_plain(found)})
        return
    for line in lines:
        click.echo(line)


def _readers(wanted: bool, settings: Settings) -> Sequence[ControlReader]:
    """Make the untrained baselines; none if torch, which only they need, is missing."""
    if not wanted:
        return ()
    try:
        require("torch", extra="lab")
    except MissingExtra as missing:
        if not settings.quiet:
            say(f"without untrained baselines: {missing}")
        return ()
    from milepost_lab.controls.readers import control_readers

    return control_readers()


def _report(
    given: Texts,
    model: str | None,
    readers: Sequence[ControlReader],
    landmarks: bool,
    permutations: int,
    seed: int,
    progress: Progress,
) -> list[View]:
    import numpy as np

    from milepost import load
    from milepost_lab.quality.separation import numbered
    from milepost_lab.quality.study import Points, report
    from milepost_lab.quality.texts import encode

    def points(reader: Reader) -> Points:
        made = encode(reader, given.texts, landmarks=landmarks, progress=progress)
        labels = numbered(given.labels)[made.texts]
        sources = numbered(given.sources)[made.texts] if len(set(given.sources)) > 1 else None
        lengths = np.maximum(made.lengths, 1)
        return Points(made.vectors, labels, made.texts, lengths, sources)

    return report(
        points(load(model)),
        controls={reader.name: points(reader) for reader in readers},
        permutations=permutations,
        seed=seed,
        progress=progress,
    )


def _by_layer(
    given: Texts,
    checkpoint: str,
    readers: Sequence[ControlReader],
    permutations: int,
    seed: int,
    progress: Progress,
) -> list[Mixture]:
    import numpy as np

    from milepost_lab.quality.layers import evenly, layer_means, mixtures
    from milepost_lab.quality.separation import numbered
    from milepost_lab.quality.texts import encode

    states = layer_means(checkpoint, given.texts, progress)
    controls: dict[str, NDArray[np.floating]] = {
        reader.name: layer_means(checkpoint, given.texts, progress, random=True)
        if reader.name == "random"
        else encode(reader, given.texts, progress=progress).vectors[:, None]
        for reader in readers
    }
    known = numbered(given.labels), np.arange(len(given.texts))
    return [
        *mixtures(states, *known, permutations=permutations, seed=seed),
        *evenly(controls, *known, permutations=permutations, seed=seed),
    ]


def _drift(
    given: Texts,
    model: str | None,
    against: str,
    readers: Sequence[ControlReader],
    neighbours: int,
    min_kept: float,
    seed: int,
    progress: Progress,
) -> Drift:
    from milepost import load
    from milepost_lab.quality.drift import drift
    from milepost_lab.quality.separation import numbered
    from milepost_lab.quality.texts import encode

    def vectors(reader: Reader) -> NDArray[np.float32]:
        return encode(reader, given.texts, progress=progress).vectors

    labels = numbered(given.labels) if len(set(given.labels)) > 1 else None
    return drift(
        vectors(load(model)),
        vectors(load(against)),
        labels,
        neighbours=neighbours,
        min_kept=min_kept,
        controls={reader.name: vectors(reader) for reader in readers},
        seed=seed,
    )


def _views(found: list[View]) -> Iterator[str]:
    forms: dict[str, list[View]] = {}
    for view in found:
        forms.setdefault(view.name.partition("@")[0], []).append(view)
    for name, (view, *others) in forms.items():
        rows = [
            (
                measure,
                _number(one.value),
                _interval(one.low, one.high),
                _number(one.chance),
                _number(one.p),
                *(_number(other.measures[measure].value) for other in others),
            )
            for measure, one in view.measures.items()
        ]
        heads = (other.name.removeprefix(name) for other in others)
        yield from columns((name, "", "95 %", "permuted", "p", *heads), rows)
        yield from (f"({flag})" for flag in view.flags)
        yield ""
    yield "separation: n D2 / W, the inverse of Xie and Beni's index; dbs: lower is better;"
    yield "probe and below: balanced accuracy out of fold. Separable does not mean good or safe."


def _mixtures(found: list[Mixture]) -> Iterator[str]:
    rows = [
        (
            one.name,
            _number(one.separation),
            _interval(one.low, one.high),
            _number(one.chance),
            _number(one.p),
            _number(one.probe),
            _number(one.aqi),
            " ".join(f"{weight:.2f}" for weight in one.weights),
        )
        for one in found
    ]
    heads = ("layers", "separation", "95 %", "permuted", "p", "probe", "AQI", "weights")
    yield from columns(heads, rows)
    yield ""
    yield "Measured on the half of the texts on which no weights were trained."
    yield "AQI: the paper's sum, half 1/XBI and half CHI; with two labels, separation times a"
    yield "number that depends on how many texts there are."


def _changes(found: Drift) -> Iterator[str]:
    kept = found.kept
    yield (
        f"neighbours kept  {kept.mean:.3f} ({kept.low:.3f} to {kept.high:.3f}); "
        f"by chance {kept.chance:.3f}"
    )
    for name, other in found.baselines.items():
        yield f"  by {name:<12}  {other.mean:.3f} ({other.low:.3f} to {other.high:.3f})"
    yield f"CKA              {_number(found.cka)}"
    if found.separation is not None and found.ratio is not None:
        before, after = found.separation
        yield f"separation       {_number(before)}, then {_number(after)}"
        ratio, low, high = map(_number, found.ratio)
        yield f"                 {ratio} times ({low} to {high})"
    for name, one in found.accuracy.items():
        yield (
            f"{name:<16} {one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}) of labels correct, "
            f"p {one.adjusted:.4f}: {one.verdict}"
        )
    for alarm in found.alarms:
        yield f"ALARM: {alarm}"
    if not found.alarms:
        yield "no alarm"


def _interval(low: float, high: float) -> str:
    """Format both ends; empty if there is no interval."""
    return "" if math.isnan(low) else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    """Format with three digits; a dash for NaN."""
    return "-" if math.isnan(value) else f"{value:.3g}"
