"""Tokens and their places under WordPiece, byte-level, sentencepiece-like and Unigram files."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import processors

from milepost.encoder.engine.manifest import Manifest, read_manifest
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows import cut
from milepost.errors import ModelError
from support.tiny_transformers import TEXT, tiny_tokenizer

SPECIAL = {
    "wordpiece": ("[CLS]", "[SEP]"),
    "unigram": ("<s>", "</s>"),
    "metaspace": ("<s>", "</s>"),
    "bytes": ("", "<|endoftext|>"),
}
TOKENIZERS = {name: Tokenizer(tiny_tokenizer(name), *SPECIAL[name]) for name in SPECIAL}


def trimmed() -> Tokenizer:
    """Byte-level with places that leave out white space, as RoBERTa's are."""
    backend = tiny_tokenizer("bytes")
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    return Tokenizer(backend, "", "<|endoftext|>")


SPECIAL["trimmed"] = SPECIAL["bytes"]
TOKENIZERS["trimmed"] = trimmed()
ALL = pytest.mark.parametrize("name", sorted(SPECIAL))


@ALL
@settings(max_examples=60)
@given(
    sentence=st.text(
        alphabet=st.sampled_from("aeinrst Th.ï🚢\n\t<>/s[]SEPCL|—")
        | st.characters(exclude_categories=("Cs",)),
        max_size=40,
    )
)
def test_tokens_lie_in_their_sentence(name: str, sentence: str) -> None:
    tokens = TOKENIZERS[name].encode([sentence])[0]
    assert len(tokens.ids) == len(tokens.starts) == len(tokens.ends)
    assert tokens.starts == sorted(tokens.starts)
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        assert 0 <= start <= end <= len(sentence)
        word = sentence[start:end]
        assert not word.strip() or word[0].strip()


@ALL
def test_every_letter_has_a_token(name: str) -> None:
    padded = f" \n{TEXT} "
    tokens = TOKENIZERS[name].encode([padded])[0]
    covered = set()
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        covered |= set(range(start, end))
    missing = {at for at, letter in enumerate(padded) if letter.strip()} - covered
    assert not missing


@ALL
@pytest.mark.parametrize("white", ["", " ", "\n \t"])
def test_white_space_is_no_sentence(name: str, white: str) -> None:
    bare, padded, nothing = TOKENIZERS[name].encode(
        ["Ice kept it.", f"{white}Ice kept it.{white}", white]
    )
    assert bare.ids == padded.ids
    assert [start + len(white) for start in bare.starts] == padded.starts
    assert nothing.ids == []


@ALL
def test_special_tokens_written_in_a_text_stay_text(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    opening, landmark = SPECIAL[name]
    sentence = f"Ice {landmark} kept{landmark}it {opening}{opening} ."
    tokens = tokenizer.encode([sentence])[0]
    assert tokenizer.landmark not in tokens.ids
    assert tokenizer.bos_id not in tokens.ids
    assert tokens.starts == sorted(tokens.starts)
    places = dict.fromkeys(zip(tokens.starts, tokens.ends, strict=True))
    again = "".join(sentence[a:b] for a, b in places)
    assert again.replace(" ", "") == sentence.replace(" ", "")


@pytest.mark.parametrize("name", ["bytes", "metaspace", "trimmed"])
def test_over_long_sentences_are_cut_between_words(name: str) -> None:
    sentence = "the ship the town the ship the town the ship the town the ship the town"
    tokens = TOKENIZERS[name].encode([sentence])[0]
    cuts = cut(sentence, tokens.starts, tokens.ends, 9)
    assert cuts
    for at in cuts:
        assert sentence[tokens.starts[at] - 1] == " "


def test_a_model_without_bos_token(tmp_path: Path) -> None:
    assert TOKENIZERS["bytes"].bos_id is None
    assert TOKENIZERS["unigram"].bos_id is not None
    with pytest.raises(ModelError, match="no token '<s>'"):
        Tokenizer(tiny_tokenizer("bytes"), "<s>", "<|endoftext|>")
    plain = Manifest("m", "f", 8, bos_token="", right=0, causal=True)
    plain.write(tmp_path)
    assert read_manifest(tmp_path) == plain


def test_a_causal_manifest(tmp_path: Path) -> None:
    Manifest("m", "f", 8).write(tmp_path)
    assert not read_manifest(tmp_path).causal
    Manifest("m", "f", 8, right=16, causal=True).write(tmp_path)
    with pytest.raises(ModelError, match="no usable right"):
        read_manifest(tmp_path)
