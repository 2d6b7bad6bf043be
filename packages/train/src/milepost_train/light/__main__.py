"""``python -m milepost_train.light``: see ``distil.py``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from milepost.cli.console.options import Settings
from milepost.encoder.engine.folder import find_model
from milepost_train.cli.train import Screen
from milepost_train.light.distil import distil


def main() -> None:
    """Read the arguments and distil."""
    parser = argparse.ArgumentParser(
        prog="python -m milepost_train.light", description=distil.__doc__
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--teacher", help="a shipped model or a folder; the default model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="landmark-light")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    given = vars(parser.parse_args())
    teacher = find_model(given.pop("teacher"))
    with Screen(Settings()) as screen:
        manifest = distil(teacher, on_progress=screen, **given)
    sys.stdout.write(f"{manifest}\n")


if __name__ == "__main__":
    main()
