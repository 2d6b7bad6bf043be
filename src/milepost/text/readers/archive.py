"""Open zip containers (docx, epub); damaged and encrypted ones and zip bombs are refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from milepost.errors import UnreadableFile

MAX_BYTES = 1 << 30
"""Unpacked size above which an archive counts as a zip bomb."""


class Archive:
    """The parts of a zip file, read one at a time."""

    def __init__(self, data: bytes, name: str) -> None:
        self._name = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise self._broken(str(error)) from error
        self.parts = frozenset(self._zip.namelist())
        if sum(part.file_size for part in self._zip.infolist()) > MAX_BYTES:
            raise UnreadableFile(
                f"{name} unpacks to more than {MAX_BYTES >> 20} MiB",
                "unpack it and use the parts that you need",
            )

    def read(self, part: str) -> bytes:
        """Return the bytes of one part.

        Raises:
            UnreadableFile: the part is missing, damaged or encrypted.
        """
        return self._guarded(lambda: self._zip.read(part), part)

    def _guarded(self, action: Callable[[], bytes], part: str) -> bytes:
        try:
            return action()
        except KeyError as error:
            raise self._broken(f"its part {part} is missing") from error
        except RuntimeError as error:  # zipfile raises this if a password is needed
            raise UnreadableFile(
                f"{self._name} is encrypted", "save it without a password"
            ) from error
        except Exception as error:  # a damaged stream raises zlib.error, EOFError, BadZipFile …
            raise self._broken(f"its part {part} is damaged") from error

    def _broken(self, why: str) -> UnreadableFile:
        return UnreadableFile(f"{self._name} is damaged: {why}", "download or save it again")
