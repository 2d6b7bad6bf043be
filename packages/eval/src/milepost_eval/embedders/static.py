"""Static embeddings: a table of token vectors and their mean, no network."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.errors import MissingExtra
from milepost_eval.embedders.base import unit, whole_characters
from milepost_eval.embedders.fingerprints import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class WordLlama:
    """WordLlama with the 256 dimensions that its package brings along; nothing is fetched."""

    name = "wordllama"

    @cached_property
    def fingerprint(self) -> str:
        """Content of the weights inside the package."""
        return f"{fingerprint(self._package / 'weights')} 256"

    @cached_property
    def _package(self) -> Path:
        return Path(str(_quietly_imported("wordllama").__file__)).parent

    @cached_property
    def _model(self) -> Any:
        # The package looks for its tokenizer in a folder of another name than it ships; given
        # its own folder as the cache it finds weights and tokenizer.
        return _quietly_imported("wordllama").WordLlama.load(
            dim=256, cache_dir=self._package, disable_download=True
        )

    def texts(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """See ``Embedder.texts``; nothing is cut."""
        given = [whole_characters(text) for text in texts]
        tokens = sum(sum(each.attention_mask) for each in self._model.tokenize(given))
        return unit(self._model.embed(given)), tokens

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.questions``."""
        return self.texts(texts)[0]


def _quietly_imported(module: str) -> Any:
    """Import a package that sets up logging for everyone, and undo that."""
    handlers, level = logging.root.handlers[:], logging.root.level
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs {module}, which cannot be imported ({error})", f"pip install {module}"
        ) from error
    finally:
        logging.root.handlers[:], logging.root.level = handlers, level
