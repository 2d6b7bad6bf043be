"""Check that wheels hold what users need: a model, its licence papers, types, files beside code.

python .ci/wheel.py dist/milepost-*.whl dist/milepost_eval-*.whl
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

NEEDED = {
    "milepost": (
        r"milepost/models/[^/]+/milepost\.json",
        r"milepost/models/[^/]+/tokenizer\.json",
        r"milepost/models/[^/]+/openvino_int8\.xml",
        r"milepost/models/[^/]+/openvino_int8\.bin",
        r"milepost/models/[^/]+/README\.md",
        r"milepost/models/landmark-minilm/ranking\.npz",
        r"milepost/models/landmark-minilm/reranker/openvino_int8\.bin",
        r"milepost/models/landmark-light/openvino_bf16\.bin",
        r"milepost/server/page/index\.html",
        r"milepost/server/page/main\.js",
        r"milepost/exports/view/page/frame\.html",
        r"milepost/exports/view/page/main\.js",
        r"milepost-[^/]+\.dist-info/licenses/THIRD_PARTY\.md",
    ),
    "milepost_eval": (r"milepost_eval/systems\.toml",),
    "milepost_train": (r"milepost_train/model/bert\.py",),
    "milepost_lab": (r"milepost_lab/data/packaged/open-questions\.jsonl\.gz",),
}
"""Package → what its wheel holds beside types and licence."""
MOST_BYTES = {"milepost": 56_000_000}
"""Models of 24 (its reranker as much again) and 8 MB, and the code; of the others code alone."""
MOST_BYTES_OF_CODE = 2_000_000


def faults(path: str) -> list[str]:
    """List what is missing from a wheel, or too much."""
    package = Path(path).name.partition("-")[0]
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        size = sum(info.compress_size for info in wheel.infolist())
    print(f"{path}: {len(names)} files, {size / 1e6:.1f} MB")
    needed = (
        rf"{package}/py\.typed",
        rf"{package}-[^/]+\.dist-info/licenses/LICENSE",
        *NEEDED[package],
    )
    found = [
        f"nothing in {path} matches {pattern}"
        for pattern in needed
        if not any(re.fullmatch(pattern, name) for name in names)
    ]
    found += [
        f"{name} does not belong in {path}"
        for name in names
        if not name.startswith((f"{package}/", f"{package}-"))
    ]
    most = MOST_BYTES.get(package, MOST_BYTES_OF_CODE)
    if size > most:
        found.append(f"{path} has {size / 1e6:.1f} MB, more than {most / 1e6:.0f}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(fault for path in sys.argv[1:] for fault in faults(path)) or None)
