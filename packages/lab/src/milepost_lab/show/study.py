"""``milepost lab show``: one pooling in words, in numbers, and at work on a text.

How much a token counts is found by leaving it out: ``|z - z without it|``, as a share of the sum
over all tokens. That needs no gradient and holds for every pooling.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from milepost.cli.console.options import Settings, common, json_option
from milepost.errors import InputError
from milepost.exports.records import print_json
from milepost.exports.writing import write_text
from milepost_eval.cli.terminal import FILE, code_option
from milepost_lab.compare.model import read_arm
from milepost_lab.data.network import TokenReader
from milepost_lab.pooling import Pool, load
from milepost_lab.pooling.registry import run_code

TEXT = (
    "Bees build their cells of wax. The queen lays her eggs in them, and in summer the workers "
    "bring pollen and honey. A swarm that has lost its queen does not live through the winter."
)
QUERY = "What do bees store?"
WIDTH, LAYERS = 8, 3


@click.command(
    "show",
    short_help="Explain a pooling, with a picture of its weights.",
    epilog="""\b
Examples:
  milepost lab show lmk
  milepost lab show max "The cat sat. The dog did not." --out weights.svg
  milepost lab show attention:temperature=0.2""",
)
@click.argument("name")
@click.argument("text", required=False)
@click.option("--query", metavar="TEXT", default=QUERY, help="For poolings that read one.")
@click.option("--network", metavar="NAME|FOLDER", default="minilm", help="Reads TEXT.")
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
    query: str,
    network: str,
    weights: Path | None,
    code: tuple[Path, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Print equation, paper, settings and an example, and show the weight of each token in TEXT."""
    for file in code:
        run_code(file)
    arm = read_arm(name)
    pool = Pool(arm.row, arm.settings) if weights is None else load(weights)
    if pool.operator.name != arm.row.name:
        raise InputError(f"{weights} holds {pool.operator.name}, not {arm.row.name}")
    words = described(pool)
    states, given = example()
    numbers = call(pool, states, [3, 2], **given)
    shares: list[tuple[str, float]] = []
    if text is not None or out is not None:
        shares = picture(pool, TokenReader.open(network), text or TEXT, query)
    if out is not None:
        write_text(out, as_svg(shares, f"{name}: {arm.row.equation}"))
    if as_json:
        print_json({**dict(words), "settings": pool.settings, "example": numbers.tolist(),
                    "counts": [[part, round(share, 6)] for part, share in shares]})  # fmt: skip
        return 0
    click.echo(f"{arm.row.name}: {arm.row.title}")
    for heading, value in words:
        click.echo(f"  {heading:<16}{value}")
    for setting, value in pool.settings.items():
        choices = arm.row.choices.get(setting, ())
        click.echo(f"  {'setting':<16}{setting} = {value!r} {' | '.join(choices)}".rstrip())
    click.echo("\nExample: two texts of 3 and 2 tokens, each state a row of 8; their vectors")
    for vector in numbers.reshape(-1, numbers.shape[-1]):
        more = " …" if len(vector) > 12 else ""
        click.echo("    [" + " ".join(f"{value:.2f}" for value in vector[:12]) + f"{more}]")
    for part, share in sorted(shares, key=lambda each: -each[1])[:10]:
        click.echo(f"  {100 * share:5.1f} %  {part}")
    return 0


def described(pool: Pool) -> list[tuple[str, str]]:
    """What the table says of a pooling, as heading and text."""
    row = pool.operator
    return [
        ("equation", row.equation),
        ("paper", f"arXiv {row.paper}" if row.paper else "none: known to everybody"),
        ("needs", ", ".join(sorted(row.needs)) or "states and lengths alone"),
        ("order of tokens", "counts" if row.ordered else "does not count"),
    ]


def example() -> tuple[NDArray[np.float32], dict[str, Any]]:
    """States ``(5, 3, 8)`` of two texts, and what a pooling may need beside them."""
    rng = np.random.default_rng(0)
    states = rng.integers(-3, 4, (5, LAYERS, WIDTH)).astype(np.float32)
    return states, {
        "queries": rng.integers(-3, 4, (2, WIDTH)).astype(np.float32),
        "segments": [2, 1, 2],
    }


def call(
    pool: Pool, states: NDArray[np.float32], lengths: Sequence[int], **given: Any
) -> NDArray[np.float32]:
    """Call a pooling with what it needs of ``(tokens, layers, d)`` states, queries and segments."""
    needs = pool.operator.needs
    found: NDArray[np.float32] = pool(
        states if "layers" in needs else states[:, -1],
        lengths,
        **{name: value for name, value in given.items() if name in needs},
    )
    return found


def picture(pool: Pool, reader: TokenReader, text: str, query: str) -> list[tuple[str, float]]:
    """Each token of a text and its share of how far the vector moves without it."""
    asked = reader.states([query])[0].mean(0).numpy()
    (states,) = reader.states([text], every_layer=True)
    ids, sentences = reader.tokens([text])
    values, cut, count = states.numpy(), np.array(sentences[0]), len(ids[0])

    def pooled(kept: NDArray[np.int64]) -> NDArray[np.float32]:
        sizes = np.unique(cut[kept], return_counts=True)[1]
        found = call(pool, values[kept], [len(kept)], queries=asked[None], segments=sizes)
        vector: NDArray[np.float32] = found[0]
        return vector

    everything = np.arange(count)
    whole = pooled(everything)
    moves = np.zeros(count)
    for number in range(count if count > 1 else 0):
        other = pooled(np.delete(everything, number))
        if whole.ndim == 1:
            moves[number] = np.linalg.norm(whole - other)
        else:  # of several vectors: how far each is from the nearest that is left
            apart = np.linalg.norm(whole[:, None] - other[other.any(1)][None], axis=-1)
            moves[number] = apart.min(1).sum()
    shares = moves / moves.sum() if moves.sum() else moves
    parts = reader.tokenizer.convert_ids_to_tokens(ids[0])
    return list(zip(parts, shares.tolist(), strict=True))


def as_svg(shares: Sequence[tuple[str, float]], title: str) -> str:
    """The tokens in lines, each on a ground as dark as it counts."""
    highest = max((share for _, share in shares), default=0.0) or 1.0
    x, y, cells = 10, 50, []
    for part, share in shares:
        word = part.removeprefix("##")
        wide = 8 * len(word) + 6
        if x + wide > 700:
            x, y = 10, y + 26
        cells.append(
            f'<rect x="{x}" y="{y - 15}" width="{wide}" height="20" fill="#2a78d6" '
            f'fill-opacity="{share / highest:.3f}"/>'
            f'<text x="{x + 3}" y="{y}">{escape(word)}</text>'
        )
        x += wide + 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {y + 20}" '
        f'font-family="monospace" font-size="13"><text x="10" y="22">{escape(title)}</text>'
        + "".join(cells)
        + "</svg>\n"
    )
