"""``milepost lab stitch``: encoders of many sizes from two, on digits."""

from __future__ import annotations

import copy
from functools import partial
from statistics import fmean
from typing import Any

import torch

from milepost.cli.console.options import count_option
from milepost_eval.statistics import corrected, over_seeds
from milepost_lab.data.digits import TRAINED, digits
from milepost_lab.ggem.model import patches
from milepost_lab.runner import Lines, Report, Run, cell, study
from milepost_lab.stitch.model import (
    STARTS,
    Encoder,
    Sizes,
    Start,
    Stitched,
    distil,
    train_alone,
    tune,
)


@study(
    "stitch",
    "Stitch encoders of many sizes from two.",
    "milepost lab stitch --seeds 8 --out results/stitch",
    seeds=3,
)
@count_option("--steps", 300, "Training steps of each model.")
@count_option("--tuning", 600, "Steps over all paths.")
def command(run: Run, steps: int, tuning: int) -> Report:
    """Distil an ancestor into a narrow and a wide model, stitch them, and tune all paths.

    Beside every start of the maps stands SN-Net: the same models trained without the ancestor.
    """
    found = run.per_seed("pool", partial(pool, steps, tuning))
    arms = ["SN-Net", *STARTS]
    means = {
        arm: [fmean(one[arm][path]["right"] for path in one[arm] if "," in path) for one in found]
        for arm in arms
    }
    over = corrected({a: over_seeds(means[a], means["SN-Net"]) for a in arms[1:]})
    rows: list[dict[str, Any]] = [
        {
            "start": arm,
            "path": path,
            "size": found[0][arm][path]["size"],
            "accuracy": fmean(one[arm][path]["right"] for one in found),
        }
        for arm in arms
        for path in found[0][arm]
    ]
    notes = [
        f"{arm} less SN-Net, mean of stitched paths: {cell(one)}"
        + (f", p {one.adjusted:.3f}, detectable {one.detectable:.3f}." if len(found) > 1 else ".")
        for arm, one in over.items()
    ]
    return Report(rows, notes, {"ancestor": fmean(each["ancestor"] for each in found)},
                  Lines("size", "accuracy", "start", log=True))  # fmt: skip


def pool(steps: int, tuning: int, seed: int) -> dict[str, Any]:
    """Accuracy and size of every path under every start, and of the ancestor."""
    images, kinds = digits()
    images = patches(images)
    taught = images[:TRAINED], kinds[:TRAINED]
    tested = images[TRAINED:], kinds[TRAINED:]
    sizes = Sizes()
    torch.manual_seed(seed)
    ancestor = Encoder(sizes.ancestor, sizes.blocks, sizes.heads)
    begun = [Encoder(width, sizes.depth, sizes.heads) for width in (sizes.narrow, sizes.wide)]
    train_alone(ancestor, *taught, steps, seed)
    distilled = [distil(copy.deepcopy(each), ancestor, *taught, steps, seed) for each in begun]
    alone = [copy.deepcopy(each) for each in begun]
    for each in alone:
        train_alone(each, *taught, steps, seed)

    def measured(narrow: Encoder, wide: Encoder, start: Start, maps: Any) -> dict[str, Any]:
        made = Stitched(copy.deepcopy(narrow), copy.deepcopy(wide), start, taught[0][:100], maps)
        tune(made, *taught, tuning, seed)
        made.eval()
        with torch.no_grad():
            return {
                path if isinstance(path, str) else f"{path[0]},{path[1]}": {
                    "size": made.size(path),
                    "right": (made(tested[0], path).argmax(1) == tested[1]).float().mean().item(),
                }
                for path in made.paths
            }

    found: dict[str, Any] = {"SN-Net": measured(alone[0], alone[1], "least squares", None)}
    for start in STARTS:
        one, other = (each.student for each in distilled)
        found[start] = measured(one, other, start, distilled[0].to_student)
    with torch.no_grad():
        right = ancestor.eval()(tested[0]).argmax(1) == tested[1]
    found["ancestor"] = right.float().mean().item()
    return found
