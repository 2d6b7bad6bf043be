"""Pairs, and texts with landmarks."""

import gzip

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost_lab.data.landmarked import read, spliced
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import _tested, ndcg, read_pairs
from support.landmark_collections import turned, write_task


def test_a_task_is_read_with_its_evidence(tmp_path):
    encoder = fake_encoder()
    data = read([write_task(tmp_path / "small")], "dev", encoder)
    # Documents come in the order of a hash of their names, as everywhere in the evaluation.
    assert sorted(data.documents) == [f"small/dev-{n}" for n in ("bees", "gold", "ships", "snow")]
    assert data.lengths.tolist() == [3, 3, 3, 3]
    bees = data.documents.index("small/dev-bees")
    (asked,) = np.flatnonzero(data.answers == bees)
    assert data.evidence[asked] == (1,)
    np.testing.assert_allclose(
        data.queries[asked], encoder.encode_query("Who lays the eggs of the hive?"), atol=1e-6
    )
    own = encoder.encode(
        "Bees build cells of wax. The queen lays the eggs of the hive. Drones leave early."
    )
    np.testing.assert_allclose(data.document(bees), own.vectors, atol=1e-6)


def test_limits_and_licences_leave_documents_out(tmp_path):
    folder = write_task(tmp_path / "small", licences=("CC BY", "CC BY-NC", "CC0", "CC BY-NC-SA"))
    encoder = fake_encoder()
    kept = read([folder], "train", encoder, allow_nc=False)
    assert sorted(kept.documents) == ["small/train-bees", "small/train-gold"]
    assert len(kept.queries) == 2
    assert len(read([folder], "train", encoder, documents=3).documents) == 3
    assert len(read([folder], "dev", encoder, questions=1).queries) == 1


def test_spliced_documents_keep_what_is_theirs_and_where_the_evidence_is():
    data = turned(20, seed=0, each=6)
    foreign = np.full((50, 8), 9, np.float32)
    hurt = spliced(data, foreign, 0.5)
    assert hurt.lengths.tolist() == [12] * 20
    for number in range(20):
        now = hurt.document(number)
        theirs = (now == 9).all(1)
        assert theirs.sum() == 6
        np.testing.assert_array_equal(now[~theirs], data.document(number))
        # One stretch: beside each other.
        assert np.ptp(np.flatnonzero(theirs)) == 5
        (before,), (after,) = data.evidence[number], hurt.evidence[number]
        np.testing.assert_array_equal(now[after], data.document(number)[before])
    assert any(a != b for a, b in zip(data.evidence, hurt.evidence, strict=True))


def test_nothing_spliced_is_the_same_and_too_much_is_named():
    data = turned(5, seed=0)
    same = spliced(data, np.ones((9, 8), np.float32), 0.0)
    np.testing.assert_array_equal(same.states, data.states)
    with pytest.raises(InputError, match="share of 1 cannot be foreign"):
        spliced(data, data.states, 1)
    with pytest.raises(InputError, match="5 foreign landmarks are wanted, there are 2"):
        spliced(data, data.states[:2], 0.5)


def test_the_packaged_pairs_share_no_document_between_parts():
    pairs = read_pairs(None)
    assert len(pairs.train) + len(pairs.test_queries) == 1500
    assert len(pairs.test_answers) == len(pairs.test_documents) == len(pairs.test_queries)
    assert not {passage for _, passage in pairs.train} & set(pairs.test_passages)
    small = read_pairs(None, 10, 5)
    assert (len(small.train), len(small.test_queries)) == (10, 5)


PAIR = '{"query": "Who %s?", "passage": "one\u2028two %s", "document": "%s"}\n'
PAIRS = [PAIR % (n, n, n // 2) for n in range(24)]


@pytest.mark.parametrize(
    "packed",
    [
        "".join(PAIRS).encode("utf-8-sig"),
        gzip.compress("".join(PAIRS).encode()),
        "  \n".join(PAIRS).encode(),
        "".join(PAIRS).replace("query", "question").replace("passage", "positive").encode(),
    ],
    ids=["BOM", "gzip", "blank", "names"],
)
def test_what_training_reads_is_read(packed, tmp_path):
    (tmp_path / "pairs.jsonl").write_bytes(packed)
    pairs = read_pairs(tmp_path / "pairs.jsonl")
    assert len(pairs.train) + len(pairs.test_queries) == 24
    assert all(passage.startswith("one\u2028two ") for passage in pairs.test_passages)


TESTED = [n for n in range(30) if _tested(str(n))]
LEARNED = "".join(PAIR % (n, n, n) for n in range(30) if n not in TESTED)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"\xff\n", "line 1: not UTF-8"),
        (b'{"query": "a"}\n', "line 1: no 'passage'"),
        ((LEARNED + PAIR % (1, 1, TESTED[0]) * 3).encode(), "and 1 passage of other documents"),
        ((LEARNED + PAIR % (1, 1, TESTED[0]) + PAIR % (2, 2, TESTED[0])).encode(), "2 passages of"),
        ((LEARNED + PAIR % (1, 1, TESTED[0]) + PAIR % (2, 1, TESTED[1])).encode(), "1 passage of"),
    ],
    ids=["bytes", "keys", "one passage", "one document", "one passage of two"],
)
def test_wrong_files_are_named(text, wrong, tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(text)
    with pytest.raises(InputError, match=wrong) as caught:
        read_pairs(file)
    assert str(file) in str(caught.value)


def test_ndcg_by_hand():
    scores = np.array([[0.9, 0.1, 0.2], [0.9, 0.5, 0.1], [0.5, 0.5, 0.5]])
    assert ndcg(scores, [0, 1, 2]) == pytest.approx([1, 1 / np.log2(3), 1 / np.log2(3)])


def test_states_do_not_depend_on_the_batch_and_sentences_are_counted():
    reader = TokenReader.open("minilm", 32)
    texts = ["Bees build cells. The queen lays eggs.", "A much longer text about ships. " * 3]
    both, (alone,) = reader.states(texts), reader.states(texts[:1])
    np.testing.assert_allclose(both[0], alone, atol=1e-4)
    (layers,) = reader.states(texts[:1], every_layer=True)
    assert layers.shape == (len(alone), 6, 384)
    np.testing.assert_allclose(layers[:, -1], alone, atol=1e-4)
    ids, sentences = reader.tokens(texts)
    assert sorted(set(sentences[0])) == [0, 1]
    assert len(sentences[1]) == len(ids[1]) <= 32
    with pytest.raises(InputError, match="no encoder"):
        TokenReader.open("/nowhere/at/all")
