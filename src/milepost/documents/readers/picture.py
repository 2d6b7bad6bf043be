"""Read image files (png, jpg, tiff, gif) by text recognition, if the user requests it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost._optional import require
from milepost.documents.readers.pdf.boxes import boxes_of_lines
from milepost.documents.readers.pdf.page import named
from milepost.documents.readers.pdf.read import assembled, written
from milepost.documents.readers.pdf.scans import picture_page
from milepost.errors import UnreadableFile, first_line
from milepost.types import Document, OnPage

MAX_PIXELS = 100_000_000
"""Maximum pixels of an image; larger images are refused before they are decompressed."""

_LARGEST = 4000  # maximum pixels of the longer side; larger images are scaled down


def read_picture(
    data: bytes, name: str, source: str | None, on_page: OnPage | None = None
) -> Document:
    """Read an image; the frames of a TIFF are pages. Boxes are in pixels."""
    frames = enumerate(_frames(data, name, on_page), 1)
    pages = [picture_page(picture, number, scale) for number, (picture, scale) in frames]
    if not any(page.frame.lines for page in pages):
        return Document(name, "", source=source, notes=("no text was recognised",))
    joined = assembled(pages, [])
    if len(pages) == 1:
        joined.pages.clear()  # a picture has no pages
    boxes = boxes_of_lines(joined.printed, pages, None, keep_hidden=False)
    what = f"{named([page.number for page in pages])} " if len(pages) > 1 else ""
    notes = (f"{what}text recognised from a picture",)
    return written(joined, name, source, notes, boxes, hidden=(), labels={})


def _frames(
    data: bytes, name: str, on_page: OnPage | None
) -> Iterator[tuple[NDArray[np.uint8], float]]:
    """Yield the upright grey values of each page, and the factor by which it was scaled."""
    pillow = require("PIL.Image", extra="ocr")
    require("PIL.ImageOps", extra="ocr")
    image = _tried(lambda: pillow.open(io.BytesIO(data)), name)
    # In other formats, frames are an animation or other sizes of the same image.
    count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    for number in range(count):
        if on_page is not None:
            on_page(number, count)
        _tried(partial(image.seek, number), name)
        if image.width * image.height > MAX_PIXELS:
            raise UnreadableFile(
                f"{name} has more than {MAX_PIXELS // 1_000_000} million pixels", "make it smaller"
            )
        scale = min(1.0, _LARGEST / max(image.size))
        yield _tried(partial(_grey, image, scale), name), scale


def _tried(action: Callable[[], Any], name: str) -> Any:
    """Call the image library, and convert its errors into ``UnreadableFile``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about large images and invalid metadata
            return action()
    except Exception as error:  # each format raises different errors
        raise UnreadableFile(
            f"{name} is damaged: {first_line(error)[:100]}", "save it again"
        ) from error


def _grey(image: Any, scale: float) -> NDArray[np.uint8]:
    """Return the grey values, rotated by the EXIF orientation, on white where transparent."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image).convert("RGBA")
    white = Image.new("RGBA", upright.size, "white")
    white.alpha_composite(upright)
    grey = white.convert("L")
    if scale < 1:
        grey = grey.resize((max(1, round(scale * grey.width)), max(1, round(scale * grey.height))))
    return np.asarray(grey)
