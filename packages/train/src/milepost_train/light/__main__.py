"""``python -m milepost_train.light``: see ``distil.py``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from milepost.encoder.engine.folder import find_model
from milepost_train.light.distil import distil
from milepost_train.light.training import LightRecipe


def main() -> None:
    """Read the arguments and distil."""
    parser = argparse.ArgumentParser(
        prog="python -m milepost_train.light", description=distil.__doc__
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--teacher", help="a shipped model or a folder; the default model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="landmark-light")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--recipe", type=json.loads, default={}, help="JSON fields of LightRecipe")
    options = parser.parse_args()

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    teacher, recipe = find_model(options.teacher), LightRecipe(**options.recipe)
    where = teacher, options.shared, options.out, recipe
    manifest = distil(*where, name=options.name, threads=options.threads, say=say)
    say(str(manifest))


if __name__ == "__main__":
    main()
