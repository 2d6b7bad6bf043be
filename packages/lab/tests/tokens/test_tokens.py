"""Words by hand (facts page 07), what the model sees, and the study."""

import torch

from milepost_lab.tokens.model import (
    UnitModel,
    WordModel,
    split_words,
    targets,
    word_bytes,
    word_rows,
)
from milepost_lab.tokens.study import ARMS, command, words


def test_10_the_split_is_reversible():
    text = " Hello,  wörld 3.14!\n"
    found = [" ", "Hello", ",", "  ", "wörld", " ", "3", ".", "14", "!", "\n"]
    assert split_words(text) == found
    assert "".join(split_words(text)) == text
    assert split_words("हिन्दी") == ["हिन्दी"]


def test_6_a_word_and_one_end_mark_are_scored():
    rows = word_rows([[119, 114], []])
    found = targets(rows)
    assert found.shape == (2, 17)
    assert found[0, :4].tolist() == [119, 114, 1, -100]
    assert (found[1] == -100).all()


def model():
    torch.manual_seed(0)
    return WordModel(width=16).eval()


def row(text):
    return word_rows([piece for word in split_words(text) for piece in word_bytes(word)])[None]


def test_2_padding_is_not_read():
    made, ids = model(), row("to be")
    short = made.pooled(ids[..., :4])
    torch.testing.assert_close(short, made.pooled(ids), rtol=1e-4, atol=1e-5)


def test_a_word_is_read_alone_and_predictions_see_only_what_is_before():
    made = model()
    one, other = row("the cat sat on"), row("the cat sat up")
    torch.testing.assert_close(made.pooled(one)[:, :6], made.pooled(other)[:, :6])
    torch.testing.assert_close(made(one)[:, :5], made(other)[:, :5], rtol=1e-4, atol=1e-5)
    # Of the last word, a byte sees those before it: o|n and u|p differ from the second place on.
    torch.testing.assert_close(made(one)[:, -1, 0], made(other)[:, -1, 0], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(made(one)[:, -1, 1], made(other)[:, -1, 1])


def test_it_learns_a_row_by_heart():
    torch.manual_seed(0)
    made, ids = WordModel(width=32), row("a b a b a b a b")
    adam = torch.optim.Adam(made.parameters(), 1e-2)
    for _ in range(60):
        adam.zero_grad()
        loss = made.loss(ids)
        loss.backward()
        adam.step()
    assert loss.item() < 0.5


def test_units_see_only_what_is_before():
    made = UnitModel(20, width=16).eval()
    one, other = torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 9]])
    torch.testing.assert_close(made(one)[:, :2], made(other)[:, :2])


def test_the_study_runs(run_study):
    found = run_study(words, "--size", 1500, "--steps", 1, "--asked", 2, "--seeds", 1)
    assert [row["arm"] for row in found["rows"]] == [*ARMS]
    assert {"words", "pool"} == set(command.commands)
