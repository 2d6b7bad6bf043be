"""Tokens under all kinds of tokenizers: their places, and words that are remembered."""

from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, processors
from tokenizers import Tokenizer as Backend

from milepost.encoder.engine import words
from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.engine.words import divides_words
from milepost.encoder.windows import cut
from milepost.errors import ModelError
from support.threads import at_once
from support.tiny_models import TEXT, tiny_tokenizer

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


def test_a_model_without_bos_token() -> None:
    assert TOKENIZERS["bytes"].bos_id is None
    assert TOKENIZERS["unigram"].bos_id is not None
    with pytest.raises(ModelError, match="no token '<s>'"):
        Tokenizer(tiny_tokenizer("bytes"), "<s>", "<|endoftext|>")


SHIPPED = Tokenizer(find_model().tokenizer, "[CLS]", "[SEP]")
TEXTS = st.text(
    alphabet=st.sampled_from(
        "aeinrstThKéïİßﬁ …’“”«»§·≠£5-_.,;[]SEPCL’\u00a0\u00ad\u0301\u2028\x00\n\t"
    )
    | st.characters(),
    max_size=60,
)


def remembered(tokenizer: Tokenizer, sentences: list[str]) -> list[tuple[object, ...]]:
    return [(list(ids), *rest) for ids, *rest in tokenizer.count(sentences)]


def test_the_shipped_tokenizer_is_remembered() -> None:
    assert SHIPPED._words is not None


@settings(max_examples=120)
@example(["", " \n ", "One [SEP] of [CLS] these.", "a" * 300, "\ud800 half a pair"])
@example(["naïve, Ångström; “well-known” (e.g. 3.5 µg/l) — 患者は全員が成人だった。 " * 3])
@given(st.lists(TEXTS, max_size=4))
def test_as_the_tokenizer_says(sentences: list[str]) -> None:
    counted = remembered(SHIPPED, sentences)
    assert counted == SHIPPED._count(sentences)
    assert counted == remembered(SHIPPED, sentences)


def test_a_token_of_ones_own_is_not_torn() -> None:
    backend = Backend.from_file(str(find_model().tokenizer))
    assert divides_words(backend)
    backend.add_tokens([AddedToken("ice cream.", special=False)])
    assert not divides_words(backend)
    own = Tokenizer(backend, "[CLS]", "[SEP]")
    assert own.count(["an ice cream."])[0][0] == own.encode(["an ice cream."])[0].ids


def test_threads_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST", 20)
    tokenizer = Tokenizer(find_model().tokenizer, "[CLS]", "[SEP]")

    def read(seed: int) -> None:
        for number in range(60):
            sentences = [f"thread {seed} has number {number * seed}."]
            assert remembered(tokenizer, sentences) == tokenizer._count(sentences)

    assert at_once(*(partial(read, seed) for seed in range(4))) == []
