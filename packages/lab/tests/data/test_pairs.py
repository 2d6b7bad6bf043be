"""Pairs, ranking, and token states."""

import json

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import ndcg, read_pairs


def test_the_packaged_pairs_share_no_document_between_parts():
    pairs = read_pairs(None)
    assert len(pairs.train) + len(pairs.test_queries) == 1500
    assert len(pairs.test_answers) == len(pairs.test_documents) == len(pairs.test_queries)
    assert not {passage for _, passage in pairs.train} & set(pairs.test_passages)
    small = read_pairs(None, 10, 5)
    assert (len(small.train), len(small.test_queries)) == (10, 5)


def test_wrong_files_are_named(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"query": "a"}\n')
    with pytest.raises(InputError, match="no file of pairs"):
        read_pairs(file)
    file.write_text(json.dumps({"query": "a", "passage": "b", "document": "c"}) + "\n")
    with pytest.raises(InputError, match="too few documents"):
        read_pairs(file)


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
