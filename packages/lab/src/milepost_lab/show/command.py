"""``milepost lab show``: one pooling explained, with a picture of its weights on a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.console.options import FILE, Settings, code_option, common, json_option, say
from milepost.console.records import print_json
from milepost.console.screen import page, print_line, visible
from milepost.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from milepost_lab.pooling import Operator, Pool
    from milepost_lab.show.study import Example, Picture

_MOST = 5  # parts that are named with their shares
_SHOWN = 12  # numbers of a vector that are printed


@click.command(
    "show",
    short_help="Explain a pooling, with a picture of its weights.",
    epilog="""\b
Examples:
  milepost lab show lmk
  milepost lab show max "The cat sat. The dog did not." --out weights.svg
  milepost lab show attention:temperature=0.2

\b
NAME is an operator, with settings as NAME:setting=value. The picture shows how far the
vector moves without each token. See docs/pooling.md.""",
)
@click.argument("name")
@click.argument("text", required=False)
@click.option("--query", metavar="TEXT", help="Question for poolings that read one.")
@click.option(
    "--model",
    metavar="FOLDER",
    help="A checkpoint, or minilm. [default: the repository's, else minilm]",
)
@click.option("--weights", type=FILE, help="A trained pooling, written by Pool.save.")
@code_option
@click.option("--out", type=FILE, help="Write the picture as SVG.")
@json_option
@common
@click.pass_obj
def command(
    settings: Settings | None,
    name: str,
    text: str | None,
    query: str | None,
    model: str | None,
    weights: Path | None,
    code: tuple[Path, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Print equation, paper, settings and an example, and show the weight of each token in TEXT."""
    from milepost_lab import pooling
    from milepost_lab.compare.rows import read_row
    from milepost_lab.pooling.code import run_code
    from milepost_lab.show.study import example

    told = settings or Settings()
    for file in code:
        run_code(file)
    row = read_row(name)
    pool = pooling.get(row.operator, **dict(row.settings))
    if weights is not None:
        pool = pooling.load(weights)
        if pool.operator.name != row.operator:
            raise InputError(f"{weights} holds {pool.operator.name}, not {row.operator}")
    operator = pool.operator
    numbers = example(operator, pool.settings)
    wanted = any(given is not None for given in (text, query, model, weights, out))
    found = _picture(pool, model, text, query, required=wanted)
    if out is not None and found is not None:
        from milepost.writing import write_text
        from milepost_lab.show.study import as_svg

        write_text(out, as_svg(found, f"{row.name}: {operator.equation}"))
    if as_json:
        print_json(_record(pool, numbers, found))
        return 0
    with page(told.colour) as screen:
        _print(screen, operator, pool, numbers, found)
    return 0


def _picture(
    pool: Pool, model: str | None, text: str | None, query: str | None, *, required: bool
) -> Picture | None:
    """What counts in the text; None where no model is there and nobody asked for more."""
    from milepost._optional import require

    try:
        require("torch", extra="lab")
        from milepost_lab.compare.reading import TokenReader
        from milepost_lab.show.study import QUERY, TEXT, picture

        return picture(pool, TokenReader.open(model), text or TEXT, query or QUERY)
    except (InputError, MissingExtra) as error:
        if required:
            raise
        say(f"no picture: {error}")
        return None


def _print(
    screen: Console, operator: Operator, pool: Pool, numbers: Example, found: Picture | None
) -> None:
    from rich.text import Text

    from milepost_lab.show.study import described, glued

    print_line(screen, Text.assemble((operator.name, "bold"), f": {operator.title}"))
    for heading, words in described(operator, pool.settings):
        print_line(screen, f"  {heading:<16}{words}")
    print_line(screen, "")
    print_line(screen, "Example: two texts of 3 and 2 tokens, each state a row of 8")
    for heading, array in (("states", numbers.states), *numbers.given.items()):
        print_line(screen, f"  {heading}")
        for row in str(array).splitlines():
            print_line(screen, f"    {row}")
    print_line(screen, "  vectors")
    for vector in _vectors(numbers):
        shown = " ".join(f"{value:.2f}" for value in vector[:_SHOWN])
        print_line(screen, f"    [{shown}{' …' if len(vector) > _SHOWN else ''}]")
    if found is None:
        return
    what = "token" if found.reads == "tokens" else "sentence"
    print_line(screen, "")
    print_line(screen, f"What counts: how far the vector moves without a {what}")
    line = Text()
    for part, strength in zip(found.parts, found.strengths, strict=True):
        word, joined = glued(visible(part))
        line.append("" if joined or not line else " ")
        line.append(word, style=_style(float(strength)))
    print_line(screen, line)
    order = sorted(range(len(found.parts)), key=lambda n: -found.shares[n])[:_MOST]
    for number in order:
        print_line(screen, f"  {100 * found.shares[number]:5.1f} %  {visible(found.parts[number])}")


def _vectors(numbers: Example) -> Iterator[NDArray[np.float32]]:
    """Each vector of the example; rows of zeros are none of a text that has several."""
    for text in numbers.vectors:
        if text.ndim == 1:
            yield text
        else:
            yield from text[text.any(1)]


def _style(strength: float) -> str:
    """Brighter for what counts more, in steps that every terminal has."""
    steps = ("dim", "", "bold", "bold yellow", "bold reverse yellow")
    return steps[min(len(steps) - 1, int(strength * len(steps)))]


def _record(pool: Pool, numbers: Example, found: Picture | None) -> dict[str, Any]:
    operator = pool.operator
    told: dict[str, Any] = {
        "operator": operator.name,
        "title": operator.title,
        "equation": operator.equation,
        "paper": operator.paper,
        "needs": sorted(operator.needs),
        "settings": pool.settings,
        "example": {
            "states": numbers.states.tolist(),
            "lengths": list(numbers.lengths),
            "vectors": numbers.vectors.tolist(),
        },
    }
    if found is not None:
        told["reads"] = found.reads
        told["counts"] = [
            [part, round(float(share), 6)]
            for part, share in zip(found.parts, found.shares, strict=True)
        ]
    return told
