"""A tiny model of another library, for the tests of embedders and of systems of them."""

from pathlib import Path

import pytest

from milepost_eval.embedders import SentenceTransformerEmbedder
from support.tiny_models import sentence_transformer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    return sentence_transformer(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def bert(tiny: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder("tiny", tiny)
