"""Words against bytes: fairly cut, fairly sized, fairly scored."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.bytes.stack import parameters  # noqa: E402
from milepost_lab.model.bytes.tokenizer import END, PAD, VOCABULARY, encode  # noqa: E402
from milepost_lab.model.bytes.word_model import WordModel  # noqa: E402
from milepost_lab.tokens.lm_arms import (  # noqa: E402
    ARMS,
    CONTROLS,
    MAIN,
    Arm,
    Cutting,
    Setup,
    build,
    cells,
)
from milepost_lab.tokens.lm_study import (  # noqa: E402
    _asked,
    _continues,
    _freeze,
    _measure,
    compare,
)
from milepost_lab.tokens.subwords import Vocabulary  # noqa: E402
from milepost_lab.tokens.units import (  # noqa: E402
    Corpus,
    bucket,
    from_file,
    generated,
    mean_length,
    pieces,
    windows_of,
)

pytestmark = pytest.mark.torch
SETUP = Setup(width=16, window=48, batch=4, steps=3, vocabulary=300)
TEXT = "Wörter und Zahlen 3.14, dann wieder Wörter. " * 3


BYTES = Vocabulary([], 258)  # no merge: a subword is a byte


def rng():
    return np.random.default_rng(0)


def test_windows_tile_a_document_at_borders_of_words():
    windows = windows_of([TEXT, "another one"], 48)
    assert b"".join(w.data for w in windows if w.document == 0) == TEXT.encode()
    for window in windows:
        assert len(window.data) <= 48
        assert b"".join(word.text.encode() for word in window.words) == window.data
        for word in window.words:
            assert window.data[word.first : word.last] == word.text.encode()


@pytest.mark.parametrize("cut", ["words", "bytes", "stride", "random"])
def test_pieces_tile_a_window_and_random_ones_have_the_words_lengths(cut):
    window = windows_of([TEXT], 48)[0]
    lengths = pieces(window, cut, 4, rng())
    words = [word.last - word.first for word in window.words]
    assert sum(lengths) == len(window.data)
    assert (sorted(lengths) == sorted(words)) == (cut in ("words", "random"))
    assert (lengths == words) == (cut == "words")
    assert set(lengths[:-1]) == {"bytes": {1}, "stride": {4}}.get(cut, set(lengths[:-1]))


def test_attention_has_fewer_cells_between_words_and_more_where_each_has_four_vectors():
    """Check 4: 128 words of 5 letters with a space each, 768 bytes; spaces are pieces here."""
    window = windows_of(["abcde " * 128], 768)[0]
    assert cells(ARMS["bytes"], window, Cutting(6, BYTES)) == 589_824
    assert cells(ARMS["words"], window, Cutting(6, BYTES)) == 75_776
    assert cells(ARMS["words-4"], window, Cutting(6, BYTES)) == 1_075_712


@pytest.mark.parametrize(("prefixes", "wanted"), [(1, 25_600), (4, 282_880)])
def test_without_spaces_the_cells_are_the_paper_s(prefixes, wanted):
    """Check 4 as it was counted: 128 pieces of 5 letters and nothing between them."""
    window = windows_of(["abcde" * 128], 640)[0]
    assert cells(Arm("stride", "stride", prefixes=prefixes), window, Cutting(5, BYTES)) == wanted


def test_all_arms_have_nearly_the_same_parameters():
    sizes = {name: parameters(build(ARMS[name], Setup(), 0)) for name in MAIN}
    assert max(sizes.values()) / min(sizes.values()) < 1.01


def test_a_vocabulary_too_large_for_the_network_is_refused():
    with pytest.raises(InputError, match="2000 subwords leave no parameters"):
        build(ARMS["subwords"], Setup(vocabulary=2000), 0)


def test_words_are_sorted_by_how_often_they_were_seen():
    assert [bucket(n) for n in (0, 1, 5, 6, 50, 51)] == [
        "unseen", "1-5", "1-5", "6-50", "6-50", "over 50",
    ]  # fmt: skip
    corpus = Corpus("x", ("a b a", "a c"), ())
    assert corpus.counts() == {"a": 3, "b": 1, "c": 1}


def test_words_that_were_cut_and_a_window_s_last_are_not_asked_for():
    (window,) = windows_of(["one internationalizations, two three"], 80)
    assert [word.text for word in _asked(window)] == ["one", "two"]


class Guesses:
    """A model that is right everywhere but at one target, where it guesses an ``e``."""

    def __init__(self, cut, wrong):
        self.cut, self.wrong = cut, wrong

    def eval(self):
        pass

    def targets(self, units):
        return WordModel.targets(None, units) if self.cut == "words" else units

    def __call__(self, units):
        guess = self.targets(units).clone()
        if self.wrong is not None:
            assert guess[(0, *self.wrong)] != PAD
            guess[(0, *self.wrong)] = encode("e")[0]
        return 9.0 * torch.nn.functional.one_hot(guess, VOCABULARY)


@pytest.mark.parametrize(
    ("cut", "wrong", "right"),
    [
        ("words", None, 1),
        ("words", (2, 3), 0),  # bane
        ("words", (2, 4), 0),  # bank, and no end: banke…
        ("bytes", None, 1),
        ("bytes", (5,), 0),
        ("bytes", (6,), 0),
    ],
)
def test_a_word_is_right_with_all_of_its_bytes_and_its_end(cut, wrong, right):
    """Check 8: "banker" begins as "bank" does, and is wrong."""
    windows = windows_of(["a bank x"], 80)
    assert _measure(Guesses(cut, wrong), Arm(cut, cut), windows, Cutting(3, BYTES), 0).right == [
        1,
        right,
    ]


class Subwords:
    """A stream that is right everywhere but at one place, where it guesses ``other``."""

    def __init__(self, wrong, other):
        self.wrong, self.other = wrong, other

    def eval(self):
        pass

    def targets(self, units):
        return units

    def __call__(self, units):
        guess = units.clone()
        guess[0, self.wrong] = self.other
        return 9.0 * torch.nn.functional.one_hot(guess, 300)


@pytest.mark.parametrize(
    ("wrong", "other", "right"),
    [
        (0, ",", [0, 1]),
        (1, ",", [1, 1]),  # the blank behind the first word: another sign ends it too
        (1, "er", [0, 1]),
        (2, "er", [1, 0]),
        (3, ",", [1, 1]),
        (3, "er", [1, 0]),  # banker
    ],
)
def test_a_word_of_subwords_is_right_with_all_of_them_and_its_end(wrong, other, right):
    vocabulary = Vocabulary(["a bank er"] * 3, 300)
    (window,), (guess,) = windows_of(["a bank x"], 80), windows_of([other], 80)
    assert [len(word) for word in vocabulary.ids(window)] == [1] * 5  # "bank" is one subword
    guesses = Subwords(wrong, vocabulary.ids(guess)[0][0])
    found = _measure(guesses, ARMS["subwords"], [window], Cutting(3, vocabulary), 0)
    assert found.right == right


def test_letters_digits_and_parts_of_characters_go_on_with_a_word():
    assert all(_continues(one) for one in encode("eZ7é", end=False))
    assert not any(_continues(one) for one in (*encode(" .\n-", end=False), END, PAD))


def test_a_uniform_guess_costs_what_it_must_and_every_arm_is_scored_on_the_same_words():
    corpus = generated(6000)
    arms = (*MAIN, "words-2", "words-mean", "words-published")
    found = compare(corpus, SETUP, arms)
    scores = found.scores
    asked = {name: [s.right[name][3] for s in scores] for name in scores[0].right}
    for counts in asked.values():
        assert len(set(counts)) == 1
    assert set(asked) >= {"unseen", "all"}
    for score in scores:
        assert score.low <= score.bits <= score.high
        assert 0 < score.bits < 24
        assert 0 <= score.end_bits < score.bits
    by_name = {score.arm: score for score in scores}
    assert {by_name[name].end_bits for name in ("random", "bytes", "subwords")} == {0}
    assert by_name["words"].end_bits > 0
    assert by_name["words"].places < by_name["bytes"].places
    assert by_name["subwords"].places < by_name["bytes"].places
    # One seed: only windows are resampled, and differences are those of the scores.
    assert list(found.gains) == [f"{m}, over windows" for m in ("right words", "bits a byte")]
    bits = found.gains["bits a byte, over windows"]
    assert list(bits) == [f"words - {name}" for name in arms[1:]]
    for name, one in bits.items():
        other = by_name[name.removeprefix("words - ")]
        assert one.mean == pytest.approx(by_name["words"].bits - other.bits)
        assert one.detectable > 0


@pytest.mark.parametrize("arm", ["words", "subwords", "bytes"])
def test_a_text_without_surprise_is_learned_to_the_end(arm):
    """Three words in a ring: every one follows from the one before."""
    ring = "abc de fghi " * 12
    setup = Setup(width=32, window=48, batch=4, steps=120, rate=3e-3, vocabulary=280)
    score = compare(Corpus("ring", (ring,), (ring,)), setup, (arm,)).scores[0]
    share, _, _, count = score.right["6-50"]
    assert count > 10
    assert share > 0.7
    assert score.bits < 1.5


def test_a_comparison_goes_on_where_it_was_and_refuses_other_settings(tmp_path):
    corpus, setup = generated(6000), replace(SETUP, seeds=2)
    begun = compare(corpus, replace(setup, seeds=1), ("words", "subwords"), folder=tmp_path)
    made = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("morphology-*")}
    whole = compare(corpus, setup, ("words", "subwords"), folder=tmp_path)
    assert len(made) == 2
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in made} == made
    assert [one.parameters for one in whole.scores] == [one.parameters for one in begun.scores]
    assert "right words, over trainings" in whole.gains
    with pytest.raises(InputError, match=r"holds runs with --steps 3, not --steps 4"):
        compare(corpus, replace(setup, steps=4), ("words",), folder=tmp_path)


def test_a_control_reads_with_its_last_layer_alone():
    corpus = generated(6000)
    scores = compare(corpus, SETUP, ("words", *CONTROLS, "bytes@random")).scores
    assert [score.arm for score in scores[1:4]] == list(CONTROLS)
    head = SETUP.width * VOCABULARY
    assert [score.parameters for score in scores[1:]] == [head] * 4
    assert scores[0].parameters > head
    assert len({score.bits for score in scores}) == 5
    assert all(score.places == scores[0].places for score in scores[:4])


def test_a_control_keeps_what_it_has_below_its_last_layer():
    (window,) = windows_of(["one two three"], 48)
    built = {name: build(ARMS["words"], SETUP, 0) for name in ("random", "nonsense")}
    drawn = build(ARMS["words"], SETUP, 0).state_dict()
    for name, model in built.items():
        _freeze(model, ARMS["words"], name, [window] * 8, Cutting(3, BYTES), SETUP, 0)
        learned = {key for key, weight in model.named_parameters() if weight.requires_grad}
        assert learned == {"head.weight"}
        same = all(weight.equal(drawn[key]) for key, weight in model.state_dict().items())
        assert same == (name == "random")


def test_a_file_is_held_out_by_chapters(tmp_path):
    file = tmp_path / "book.txt"
    chapters = [f"\n\nCHAPTER {n}. A NAME\n\n" + f"word{n} " * 1200 for n in range(1, 8)]
    file.write_text("A book.\n" + "".join(chapters))
    corpus = from_file(file, 10_000)
    seen = "".join(corpus.train)
    assert sum(map(len, corpus.train)) <= 10_000
    for text in corpus.test:
        names = {word for word in text.split() if word.startswith("word")}
        assert len(names) == 1
        assert not any(name in seen for name in names)
    file.write_text("short " * 900)
    with pytest.raises(InputError, match="too short for a held-out part"):
        from_file(file, 1000)


def test_the_stride_is_the_mean_word():
    assert mean_length(windows_of(["abcde " * 10], 60)) == 3


def test_arms_and_sizes_that_cannot_be_are_named():
    with pytest.raises(InputError, match="'stride'"):
        compare(Corpus("x", ("a b",), ("a b",)), SETUP, ["strid"])
    with pytest.raises(InputError, match="'nonsense'"):
        compare(Corpus("x", ("a b",), ("a b",)), SETUP, ["words@nonsens"])
    with pytest.raises(InputError, match="4 heads"):
        Setup(width=18)
