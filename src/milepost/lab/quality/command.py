"""``milepost lab quality``: do vectors tell labels apart, and what another model would change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost._optional import require
from milepost.console.columns import columns
from milepost.console.options import Settings, common, count_option, json_option, model_option, say
from milepost.console.progress import Counter
from milepost.console.records import as_plain, print_json
from milepost.errors import InputError, MissingExtra
from milepost.lab.options import FILE, controls_option, seed_option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.lab.controls.readers import ControlReader
    from milepost.lab.quality.drift import Drift
    from milepost.lab.quality.layers import Mixture
    from milepost.lab.quality.study import View
    from milepost.lab.quality.texts import Progress, Texts
    from milepost.types import Reader


@click.command(
    "quality",
    short_help="Measure how well vectors separate labels, or drifted.",
    epilog="""\b
Examples:
  milepost lab quality texts.jsonl
  milepost lab quality texts.jsonl --landmarks --model my-model/
  milepost lab quality texts.jsonl --model old/ --against new/
  milepost lab quality texts.jsonl --layers my-checkpoint/

\b
TEXTS are JSON lines with "text", "label" and, if you like, "source". --against needs no labels; it
exits with 1 where the alarm rings. See docs/pooling/quality.md.""",
)
@click.argument("texts", type=FILE)
@model_option
@click.option(
    "--against", metavar="NAME|FOLDER", help="Compare with this model, which is to follow."
)
@click.option(
    "--layers",
    "checkpoint",
    metavar="FOLDER",
    help="Measure the layers of a network of transformers in the model's place.",
)
@click.option(
    "--landmarks", is_flag=True, help="Measure every sentence's vector, not every text's."
)
@count_option("--neighbours", 10, "Of each text that are compared by --against.")
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Share of kept neighbours below which --against rings the alarm.",
)
@count_option("--permutations", 99, "Of the labels: no p is under 1/(N+1).")
@controls_option
@seed_option("Of permutations, draws and folds.")
@json_option
@common
@click.pass_obj
def command(
    settings: Settings,
    texts: Path,
    model: str | None,
    against: str | None,
    checkpoint: str | None,
    landmarks: bool,
    neighbours: int,
    least: float,
    permutations: int,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Measure how well a model's vectors of TEXTS separate their labels, each beside chance."""
    from milepost.lab.quality.texts import read_texts

    if checkpoint and (model or against or landmarks):
        raise InputError(
            "--layers reads a network, without --model, --against and --landmarks",
            "ask one at a time",
        )
    if against and landmarks:
        raise InputError("--against compares whole texts", "leave --landmarks out")
    given = read_texts(texts)
    if not given.labels and not against:
        raise InputError(f"the lines of {texts} have no label", "add one to each, or --against")
    code = 0
    readers = _readers(controls, settings)
    with Counter(settings) as counter:
        progress = counter.steps_of()
        if checkpoint:
            found: Any = _by_layer(given, checkpoint, readers, permutations, seed, progress)
            shown = _mixtures(found)
        elif against:
            found = _drift(given, model, against, readers, neighbours, least, seed, progress)
            shown = _changes(found)
            code = 1 if found.alarms else 0
        else:
            found = _report(given, model, readers, landmarks, permutations, seed, progress)
            shown = _views(found)
    if as_json:
        made = [asdict(one) for one in found] if isinstance(found, list) else asdict(found)
        print_json({"quality": as_plain(made)})
    else:
        for line in shown:
            click.echo(line)
    return code


def _readers(wanted: bool, settings: Settings) -> Sequence[ControlReader]:
    """The controls; none where torch is missing, without which all else runs."""
    if not wanted:
        return ()
    try:
        require("torch", extra="train")
    except MissingExtra as missing:
        if not settings.quiet:
            say(f"no rows over networks that learnt nothing: {missing}")
        return ()
    from milepost.lab.controls.readers import control_readers

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
    from milepost.lab.quality.separation import numbered
    from milepost.lab.quality.study import Points, report
    from milepost.lab.quality.texts import encode

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

    require("torch", extra="train")
    from milepost.lab.quality.layers import evenly, layer_means, mixtures
    from milepost.lab.quality.separation import numbered
    from milepost.lab.quality.texts import encode

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
    least: float,
    seed: int,
    progress: Progress,
) -> Drift:
    from milepost import load
    from milepost.lab.quality.drift import drift
    from milepost.lab.quality.separation import numbered
    from milepost.lab.quality.texts import encode

    def vectors(reader: Reader) -> NDArray[np.float32]:
        return encode(reader, given.texts, progress=progress).vectors

    labels = numbered(given.labels) if len(set(given.labels)) > 1 else None
    return drift(
        vectors(load(model)),
        vectors(load(against)),
        labels,
        neighbours=neighbours,
        least=least,
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
    yield "separation: n D2 / W, the inverse of Xie and Beni's index; dbs: less is better;"
    yield "probe and below: balanced accuracy out of fold. It says separable, not good or safe."


def _mixtures(found: list[Mixture]) -> Iterator[str]:
    rows = [
        (
            one.name,
            _number(one.separation),
            _interval(one.low, one.high),
            _number(one.chance),
            _number(one.p),
            _number(one.probe),
            " ".join(f"{weight:.2f}" for weight in one.weights),
        )
        for one in found
    ]
    heads = ("layers", "separation", "95 %", "permuted", "p", "probe", "weights")
    yield from columns(heads, rows)
    yield ""
    yield "Measured on the half of the texts on which no weights were trained."


def _changes(found: Drift) -> Iterator[str]:
    kept = found.kept
    yield (
        f"neighbours kept  {kept.mean:.3f} ({kept.low:.3f} to {kept.high:.3f}); "
        f"by chance {kept.chance:.3f}"
    )
    for name, floor in found.floors.items():
        yield f"  by {name:<12}  {floor.mean:.3f} ({floor.low:.3f} to {floor.high:.3f})"
    yield f"CKA              {_number(found.cka)}"
    if found.separation is not None and found.ratio is not None:
        before, after = found.separation
        yield f"separation       {_number(before)}, then {_number(after)}"
        ratio, low, high = map(_number, found.ratio)
        yield f"                 {ratio} times ({low} to {high})"
    for name, one in found.told.items():
        yield (
            f"{name:<16} {one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}) of labels guessed "
            f"right, p {one.adjusted:.4f}: {one.verdict}"
        )
    for alarm in found.alarms:
        yield f"ALARM: {alarm}"
    if not found.alarms:
        yield "no alarm"


def _interval(low: float, high: float) -> str:
    """Both ends; nothing where there is no interval."""
    return "" if math.isnan(low) else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    """Three digits; a dash where there is no number."""
    return "-" if math.isnan(value) else f"{value:.3g}"
