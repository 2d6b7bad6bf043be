"""Recognise the text of an image (OCR): grey values in, lines with their boxes out.

The models (PP-OCRv6, Apache-2.0) are part of the ``rapidocr`` wheel and run on OpenVINO; nothing is
downloaded.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from milepost._forking import free_in_child
from milepost._numpy import NDArray, np
from milepost._optional import check_installed as check_extra
from milepost._optional import require
from milepost._silence import no_telemetry

DPI = 200  # resolution, in dots per inch, at which a page is rendered for recognition
SECONDS_A_PAGE = 6  # approximate time for a page of prose on two cores; see docs/formats.md
_DETECTED = 1280  # pixels of the longer side for detecting lines; they are read at full size
_LARGEST = 4000  # maximum pixels of the longer side; larger images are scaled down
_DOUBTFUL = 0.85  # how sure upright text at least is; less may stand on its head
_BETTER = 0.1
_SURE = 0.9
_TALL = 1.5  # of the width: height of a line that runs from top to bottom, or the reverse
_LOCK = free_in_child(threading.Lock())


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line of text in an image: its words, and 0–1, how sure they are.

    Its box is in pixels from the top left corner, ``turns`` by how many quarters the image has been
    turned to the left for it. A column of Chinese or Japanese is one turn: then it is a line from
    left to right.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turns: int
    score: float

    @property
    def is_tall(self) -> bool:
        """Whether it runs from top to bottom in the image as it is turned."""
        return self.bottom - self.top > _TALL * (self.right - self.left) and len(self.text) > 2


def cost(pages: int) -> str:
    """Format the approximate time that a number of pages takes.

    >>> cost(3), cost(75)
    ('18 s', '8 min')
    """
    seconds = SECONDS_A_PAGE * pages
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


check_installed = partial(check_extra, "rapidocr", extra="ocr")
"""Check, without a slow import, that text recognition is installed."""


def recognise(picture: NDArray[np.uint8]) -> tuple[list[PictureLine], int]:
    """Recognise the lines of ``(height, width)`` grey values, those of the main direction first.

    With them come the turns of that direction. A process runs one call at a time.
    """
    upright = best = _recognised(picture, 0)
    score, tall = _rating(upright)
    turned = 0
    if upright and (tall or score < _DOUBTFUL):
        for turns in (1, 3) if tall else (2, 1, 3):
            other = _recognised(picture, turns)
            reached, still_tall = _rating(other)
            if other and not still_tall and reached > score + _BETTER:
                best, score, turned = other, reached, turns
            if score > _SURE and turned:
                break
    if turned == 2:
        return best, turned
    along = [line for line in best if not line.is_tall]
    if not turned:
        width = picture.shape[1]
        return along + [_as_column(line, width) for line in best if line.is_tall], turned
    # What stands upright between columns, or on a page on its side.
    return along + [
        line
        for line in upright
        if line.right - line.left > _TALL * (line.bottom - line.top) and line.score > _DOUBTFUL
    ], turned


def _rating(lines: list[PictureLine]) -> tuple[float, bool]:
    """How sure lines are, 0-1, by characters, and whether most are higher than wide."""
    total = max(1, sum(len(line.text) for line in lines))
    sure = sum(len(line.text) * line.score for line in lines) / total
    tall = 2 * sum(len(line.text) for line in lines if line.is_tall) > total
    return sure - (0.5 if tall else 0.0), tall


def _as_column(line: PictureLine, width: int) -> PictureLine:
    sides = line.top, width - line.right, line.bottom, width - line.left
    return PictureLine(line.text, *sides, 1, line.score)


def _recognised(picture: NDArray[np.uint8], turns: int) -> list[PictureLine]:
    engine = _engine()
    with _LOCK:
        found = engine(np.ascontiguousarray(np.rot90(picture, turns)))
    lines: list[PictureLine] = []
    if not len(found):
        return lines
    for corners, words, score in zip(found.boxes, found.txts, found.scores, strict=True):
        text = " ".join(words.split())
        if text:
            left, top = corners.min(axis=0).tolist()
            right, bottom = corners.max(axis=0).tolist()
            lines.append(PictureLine(text, left, top, right, bottom, turns, float(score)))
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
