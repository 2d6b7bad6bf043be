"""Recognise the text of an image (OCR): grey values in, lines with their boxes out.

The models (PP-OCRv6, Apache-2.0) are part of the ``rapidocr`` wheel and run on OpenVINO; nothing is
downloaded.
"""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost._optional import require
from milepost._silence import no_telemetry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DPI = 200
"""Resolution, in dots per inch, at which a page is rendered for recognition."""

SECONDS_A_PAGE = 6
"""Approximate time for a page of prose on two cores; see docs/formats.md."""

_DETECTED = 1280  # pixels of the longer side for detecting lines; they are read at full size
_LARGEST = 4000  # maximum pixels of the longer side; larger images are scaled down
_DOUBTFUL = 0.85  # how sure upright text at least is; less may stand on its head
_BETTER = 0.1
_SURE = 0.9
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line of text in an image: its words, and its box in pixels from the top left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def cost(pages: int) -> str:
    """Format the approximate time that a number of pages takes.

    >>> cost(3), cost(75)
    ('18 s', '8 min')
    """
    seconds = SECONDS_A_PAGE * pages
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def check_installed() -> None:
    """Check, without a slow import, that text recognition is installed.

    Raises:
        MissingExtra: the extra ``ocr`` is not installed.
    """
    if importlib.util.find_spec("rapidocr") is None:
        require("rapidocr", extra="ocr")


def recognise(picture: NDArray[np.uint8]) -> tuple[list[PictureLine], int]:
    """Recognise the lines of an image, from top to bottom; a process runs one call at a time.

    Args:
        picture: ``(height, width)`` grey values.

    Returns:
        The lines, in the image turned upright, and by how many quarters it was turned to the left.

    Raises:
        MissingExtra: the extra ``ocr`` is not installed.
    """
    import numpy as np

    lines, score, tall = _recognised(picture)
    best, turned = lines, 0
    if lines and (tall or score < _DOUBTFUL):
        for turns in (1, 3) if tall else (2, 1, 3):
            other, reached, still_tall = _recognised(np.rot90(picture, turns))
            if other and not still_tall and reached > score + _BETTER:
                best, score, turned = other, reached, turns
            if score > _SURE and turned:
                break
    return best, turned


def _recognised(picture: NDArray[np.uint8]) -> tuple[list[PictureLine], float, bool]:
    """Recognise an image as it is.

    Returns:
        The lines; how sure they are, 0–1, by characters; and whether most are higher than wide.
    """
    import numpy as np

    engine = _engine()
    with _LOCK:
        found = engine(np.ascontiguousarray(picture))
    if not len(found):
        return [], 0.0, False
    weights = [len(words) for words in found.txts]
    total = max(1, sum(weights))
    sure = sum(w * float(s) for w, s in zip(weights, found.scores, strict=True)) / total
    spans = [np.ptp(corners, axis=0) for corners in found.boxes]
    high = sum(w for w, (x, y) in zip(weights, spans, strict=True) if y > 1.5 * x and w > 2)
    return _lines(found), sure - (0.5 if 2 * high > total else 0.0), 2 * high > total


def _lines(found: Any) -> list[PictureLine]:
    lines = []
    for corners, words in zip(found.boxes, found.txts, strict=True):
        text = " ".join(words.split())
        if text:
            left, top = corners.min(axis=0).tolist()
            right, bottom = corners.max(axis=0).tolist()
            lines.append(PictureLine(text, left, top, right, bottom))
    return lines


@lru_cache(maxsize=1)
def _engine() -> Any:
    rapidocr = require("rapidocr", extra="ocr")
    with no_telemetry():  # rapidocr would otherwise import openvino at its first image
        require("openvino", extra="ocr")
    engine = rapidocr.EngineType.OPENVINO
    models = Path(str(rapidocr.__file__)).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Global.max_side_len": _LARGEST,
            "Det.engine_type": engine,
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTED,
            "Rec.engine_type": engine,
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
        }
    )
