"""``milepost lab ponet``: PoNet against attention and Fourier transforms as layers."""

from __future__ import annotations

import click

from milepost.console.options import Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.differences import difference_lines
from milepost_lab.options import controls_option, needs_torch, seed_option


@click.command(
    "ponet",
    short_help="Compare token mixers: PoNet, attention, Fourier.",
    epilog="""\b
Examples:
  milepost lab ponet
  milepost lab ponet --texts topics --longest 256 --steps 600 --seeds 5
  milepost lab ponet --texts none --lengths 1024,4096,16384 --json

\b
Texts are generated. See docs/pooling/ponet.md.""",
)
@click.option(
    "--texts",
    type=click.Choice(["listops", "topics", "both", "none"]),
    default="both",
    help="What is learned: nested lists of operations, or topics of byte-level texts.",
)
@count_option("--longest", 96, "Maximum length of a text in tokens.", minimum=64)
@count_option("--steps", 100, "Training steps of 32 texts.")
@count_option("--seeds", 1, "Trainings of each row.")
@controls_option
@seed_option()
@click.option(
    "--lengths",
    default="256,1024,4096",
    metavar="N,N…",
    help="Text lengths at which time and memory are measured; empty for none.",
)
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    texts: str,
    longest: int,
    steps: int,
    seeds: int,
    controls: bool,
    seed: int,
    lengths: str,
    as_json: bool,
) -> int:
    """Train small encoders that differ only in their token mixer, then time one layer of each.

    Rows: softmax attention, a Fourier transform (FNet), PoNet's global aggregation alone, PoNet,
    and PoNet with as many random segments. All have the same number of parameters, and each has its
    best of four learning rates, chosen on other texts with the first seed. Below them are
    untrained baselines: frozen PoNets with random weights or pre-trained on texts without meaning,
    of which only the map to classes is trained.
    """
    from milepost_lab.ponet.mixers import MIXERS
    from milepost_lab.ponet.report import cost_table, gains, learned_table, record
    from milepost_lab.ponet.study import CONTROLS, LEARNING, PonetRecipe, cost, learn, lengths_of
    from milepost_lab.ponet.texts import KINDS

    sizes = lengths_of(lengths)
    recipe = PonetRecipe(longest=longest, steps=steps)
    kinds = {"both": list(KINDS), "none": []}.get(texts, [texts])
    with Counter(settings) as counter:
        rows = [
            learn(
                name,
                kind,
                recipe,
                range(seed, seed + seeds),
                counter.steps_of(),
            )
            for kind in kinds
            for name in (*LEARNING, *(CONTROLS if controls else ()))
        ]
        costs = [cost(name, tokens) for name in MIXERS for tokens in sizes]
    if as_json:
        print_json(record(rows, costs, recipe))
        return 0
    if rows:
        click.echo(learned_table(rows))
    if found := gains(rows):
        for line in ("", *difference_lines(found, scale=100, digits=1)):
            click.echo(line)
    if costs:
        click.echo(("\n" if rows else "") + cost_table(costs))
    return 0
