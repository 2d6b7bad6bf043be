"""The arms of the study of context (studies/context): a configuration for each.

    python tools/context_study.py abc --out scratch/abc.toml [--steps 1500] [--seed 1]
    milepost train scratch/abc.toml
    python tools/context_measure.py records scratch/context/abc-1/checkpoint --out FILE

Every arm starts from all-MiniLM-L6-v2 unless ``--start`` names a checkpoint. The questions and
swaps are where ``question_task.py`` and ``make_swaps.py`` were told to write them, in ``scratch``.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from milepost_eval.embedders.choose import minilm_folder

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
Kind = Literal["pairs", "merged", "marked"]


@dataclass(frozen=True, slots=True)
class Arm:
    """What is trained; see studies/context.

    Attributes:
        near: sentences this close to the evidence are no negatives.
        weighted: with the paper's position-aware weight, alpha 0.08.
        context: whether there is a context vector, of 384 numbers and three layers.
        frozen: everything but the context vector keeps the weights of the start.
        swaps: subject swaps are among the questions.
        own: the last layer of the landmark's own vector sees its own sentence alone.
        others: how a single vector's last layer attends to other sentences.
        stages: the paper's I, II and III; each has the same share of the steps.
    """

    near: int = 0
    weighted: bool = False
    context: bool = False
    frozen: bool = False
    swaps: bool = True
    own: bool = True
    others: str = ""
    stages: tuple[Kind, ...] = ("marked",)


_AC = Arm(near=2)
ARMS: Mapping[str, Arm] = {
    "base": Arm(swaps=False),
    "a": Arm(near=2, swaps=False),
    "b": Arm(context=True, swaps=False),
    "c": Arm(),
    "ac": _AC,
    "bc": Arm(context=True),
    "abc": Arm(near=2, context=True),
    "ac-half": replace(_AC, others="half"),
    "ac-open": replace(_AC, own=False),
    "frozen": Arm(near=2, context=True, frozen=True),
    "weighted": replace(_AC, weighted=True),
    "I+II+III": replace(_AC, stages=("pairs", "merged", "marked")),
    "II+III": replace(_AC, stages=("merged", "marked")),
    "I+III": replace(_AC, stages=("pairs", "marked")),
    "I+II": replace(_AC, stages=("pairs", "merged")),
}

SHARES = (
    "{ written = 6, squad_articles = 2, covid_papers = 2.5, "
    "trials = 1.5, meetings = 2.5, questions = 8 }"
)

_HEAD = """\
init = "{start}"
out = "{root}/scratch/context/{name}-{seed}"
seed = {seed}
average = {average}
own_sentence = {own}
save_every = 50
{model}
[windows]
size = 510
left = 112
right = 16

[data]
tasks = [{tasks}]
pairs = ["{shared}/pairs"]
hold_out = 0.12
"""

_STAGE = """
[[stage]]
steps = {steps}
rate = {rate}
warm_up = 50
floor = 0.02
"""

_MARKED = """
[[stage.part]]
kind = "marked"
weight = 6
documents = 4
questions = 4
hard = 5
windows = [160, 256, 320, 448]
distil = 0.0
near = {near}
context = {context}
noise = {{ typos = 0.1, keywords = 0.1 }}
tasks = {shares}
open_tasks = ["covid_papers", "trials", "meetings"]
{alpha}"""

_SWAPS = """
[[stage.part]]
kind = "marked"
weight = {weight}
documents = 5
hard = 0
windows = [320, 448, 510]
distil = 0.0
context = {context}
tasks = {{ swaps = 1, swaps-written = 3 }}
{alpha}"""

_PAIRS = """
[[stage.part]]
kind = "pairs"
weight = 1
pairs = {pairs}
landmarks = "sentences"
"""

_MERGED = """
[[stage.part]]
kind = "merged"
documents = 2
window = 320
left = 48
right = 16
"""


def configuration(name: str, steps: int, seed: int, start: Path) -> str:
    """The TOML of an arm; ``steps`` are those of three stages, of which an arm may have fewer."""
    arm = ARMS[name]
    model = ["context = 384", "context_layers = 3"] * arm.context
    model += [f'others = "{arm.others}"'] * bool(arm.others)
    model += ['frozen = ["backbone.*"]'] * arm.frozen
    folders = [SHARED / "tasks" / task for task in TASKS] + [ROOT / "scratch" / "questions"]
    folders += [ROOT / "scratch" / "swaps", ROOT / "data" / "swaps" / "swaps-written"] * arm.swaps
    text = _HEAD.format(
        start=start,
        root=ROOT,
        shared=SHARED,
        name=name,
        seed=seed,
        # The averages of a short run forget faster.
        average=0.98 if arm.frozen else 0.995,
        own=str(arm.own).lower(),
        model="\n".join(model),
        tasks=", ".join(f'"{folder}"' for folder in folders),
    )
    # New layers on frozen weights take a higher rate.
    rate = "2e-4" if arm.frozen else "1.5e-4"
    share = steps // 3 if arm.stages != ("marked",) else steps
    return text + "".join(
        _STAGE.format(steps=share, rate=rate) + _parts(arm, kind) for kind in arm.stages
    )


def _parts(arm: Arm, kind: Kind) -> str:
    if kind == "pairs":
        return _PAIRS.format(pairs=64)
    if kind == "merged":
        return _MERGED
    context = 1.0 if arm.context else 0.0
    alpha = "alpha = 0.08\n" * arm.weighted
    text = _MARKED.format(shares=SHARES, near=arm.near, context=context, alpha=alpha)
    # Pairs have no context to learn from.
    if not arm.frozen:
        text += _PAIRS.format(pairs=24)
    if arm.swaps:
        text += _SWAPS.format(weight=9 if arm.frozen else 4, context=context, alpha=alpha)
    return text


def main() -> None:
    """Write a configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arm", choices=sorted(ARMS))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="a checkpoint; else all-MiniLM-L6-v2")
    given = parser.parse_args()
    start = given.start.resolve() if given.start else minilm_folder()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    text = configuration(given.arm, given.steps, given.seed, start)
    given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
