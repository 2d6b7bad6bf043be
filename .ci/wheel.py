"""Check that a wheel holds what users need: a model, its licence papers, its types.

python .ci/wheel.py dist/milepost-*.whl
"""

from __future__ import annotations

import re
import sys
import zipfile

NEEDED = (
    r"milepost/py\.typed",
    r"milepost/models/[^/]+/milepost\.json",
    r"milepost/models/[^/]+/tokenizer\.json",
    r"milepost/models/[^/]+/openvino_int8\.xml",
    r"milepost/models/[^/]+/openvino_int8\.bin",
    r"milepost/models/[^/]+/README\.md",
    r"milepost/models/landmark-minilm/ranking\.npz",
    r"milepost/models/landmark-minilm/reranker/openvino_int8\.bin",
    r"milepost/models/landmark-light/openvino_bf16\.bin",
    r"milepost/evaluate/tuned\.json",
    r"milepost/lab/compare/packaged/open-questions\.jsonl\.gz",
    r"milepost/evaluate/report/page\.html\.j2",
    r"milepost/serve/page/index\.html",
    r"milepost/serve/page/main\.js",
    r"milepost/view/page/frame\.html",
    r"milepost/view/page/main\.js",
    r"milepost-[^/]+\.dist-info/licenses/LICENSE",
    r"milepost-[^/]+\.dist-info/licenses/THIRD_PARTY\.md",
)
MOST_BYTES = 56_000_000
"""Models of 24 (its reranker as much again) and 8 MB, and the code."""


def faults(path: str) -> list[str]:
    """List what is missing from the wheel, or too much."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        size = sum(info.compress_size for info in wheel.infolist())
    print(f"{path}: {len(names)} files, {size / 1e6:.1f} MB")
    found = [
        f"nothing in the wheel matches {pattern}"
        for pattern in NEEDED
        if not any(re.fullmatch(pattern, name) for name in names)
    ]
    found += [
        f"{name} does not belong in the wheel"
        for name in names
        if not name.startswith(("milepost/", "milepost-"))
    ]
    if size > MOST_BYTES:
        found.append(f"the wheel has {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults(sys.argv[1])) or None)
