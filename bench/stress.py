"""Hostile files, kills and full disks: whether anything crashes, is lost or half-written.

    python bench/stress.py --files 10000 --kills 1000 --full-disks 100 --json stress.json

Every case is a line of the log (``--log``); the same command goes on where it was stopped. What is
done is in ``bench/faults``.
"""

import argparse
import json
import os
import sys
from pathlib import Path

# Children are forked: this process must have one thread alone.
for switch in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(switch, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data" / "files"
PARTS = ("files", "kills", "full disks")


def main(arguments: list[str] | None = None) -> int:
    """Run the cases that are left, and print the counts; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=0, help="hostile files to read")
    parser.add_argument("--kills", type=int, default=0, help="processes to kill while they write")
    parser.add_argument("--full-disks", type=int, default=0, help="disks to fill (root, Linux)")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--log", type=Path, default=Path("stress.jsonl"))
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    parser.add_argument("--originals", type=Path, default=SHARED, help="folder of good files")
    options = parser.parse_args(arguments)
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))  # writers of small files, checks of indexes

    from faults import disks, files, kills
    from faults.log import Log

    log = Log(options.log.absolute(), options.seed)
    originals = options.originals if options.originals.is_dir() else None
    if options.files:
        files.run(log, options.files, originals, files.Limits())
    if options.kills:
        kills.run(log, options.kills)
    if options.full_disks:
        disks.run(log, options.full_disks)

    from milepost_eval.provenance import commit, machine, today

    found = {"date": today(), "commit": commit(), "machine": machine(), "seed": options.seed,
             "files": files.summary(log), "kills": kills.summary(log),
             "full disks": disks.summary(log)}  # fmt: skip
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(found[part]["faults"] for part in PARTS))  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
