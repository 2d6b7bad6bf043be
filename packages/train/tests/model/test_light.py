"""The light backbone, its rounding and its way into a folder; token vectors in 4 bits."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.errors import ModelError
from milepost_train.batches import assemble
from milepost_train.model import (
    Checkpoint,
    LandmarkEncoder,
    export,
    load_checkpoint,
    open_checkpoint,
)
from milepost_train.model.checkpoint import cover
from milepost_train.model.export import (
    BLOCK,
    PackedTable,
    packed,
    with_packed_table,
    with_rounded_table,
)
from milepost_train.model.landmark_encoder import Reading, TorchEngine
from milepost_train.model.light import Light, RoundedLight, rounded
from milepost_train.model.release import SAMPLE, compare
from support.tiny_models import CONFIGS, random_model, write_checkpoint, write_tokenizer
from support.tiny_models import LIGHT_CONFIG as CONFIG

LANDMARK = 3


def light(seed: int = 5) -> LandmarkEncoder:
    """Random weights with which neighbours and the window count."""
    torch.manual_seed(seed)
    model = LandmarkEncoder(CONFIG, own_sentence=False)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "near" in name or "far" in name or weight.dim() > 1:
                weight.normal_(0.0, 0.5)
    return model.eval()


@torch.no_grad()
def vectors(model: LandmarkEncoder, *texts: list[list[int]]) -> torch.Tensor:
    rows = [[np.array(sentence, np.int32) for sentence in text] for text in texts]
    batch = assemble(rows, [(0, 0)] * sum(map(len, rows)), None, LANDMARK)
    found: torch.Tensor = model(batch.ids, batch.sentences, batch.marks)[batch.used]
    return found


def longhand(light: Light, text: list[list[int]]) -> torch.Tensor:
    """The module's docstrings written out with loops, for one window."""
    table = light.embeddings["word_embeddings"].weight
    sums = [sum(table[token] for token in [*sentence, LANDMARK]) for sentence in text]
    states = [light.lift(light.norm(one)) for one in sums]
    for block in light.blocks:
        pairs = [block.enter(block.norm(state)).chunk(2) for state in states]
        mean = sum(value for value, _ in pairs) / len(pairs)
        after = []
        for number, (state, (_, gate)) in enumerate(zip(states, pairs, strict=True)):
            mixed = mean * block.far
            for other, (value, _) in enumerate(pairs):
                step = other - number + block.reach
                if 0 <= step <= 2 * block.reach:
                    mixed = mixed + value * block.near[step]
            after.append(state + block.leave(mixed * torch.sigmoid(gate) * gate))
        states = after
    found = torch.stack([light.project(light.last(state)) for state in states])
    return found / found.norm(dim=-1, keepdim=True)


SENTENCES = st.lists(st.lists(st.integers(5, 199), max_size=6), min_size=1, max_size=20)


def test_it_has_no_layers_that_run_again() -> None:
    with pytest.raises(ModelError, match="leave gradient_checkpointing out"):
        LandmarkEncoder(CONFIG, own_sentence=False).recompute_activations()


@settings(max_examples=30, deadline=None)
@given(SENTENCES)
def test_it_is_what_it_says(text: list[list[int]]) -> None:
    model = light()
    assert isinstance(model.backbone, Light)
    with torch.no_grad():
        wanted = longhand(model.backbone, text)
    assert torch.allclose(vectors(model, text), wanted, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(SENTENCES, SENTENCES)
def test_a_window_is_as_it_is_alone(one: list[list[int]], other: list[list[int]]) -> None:
    model = light()
    both = vectors(model, one, other)
    assert torch.allclose(both, torch.cat([vectors(model, one), vectors(model, other)]), atol=1e-5)


def test_rounding() -> None:
    table = torch.randn(50, 12) * torch.logspace(-6, 2, 50)[:, None]
    codes, scales = rounded(table)
    assert codes.dtype == torch.int8
    assert ((codes * scales[:, None] - table).abs() <= scales[:, None] / 2 * 1.001).all()
    assert (rounded(torch.zeros(2, 3))[0] == 0).all()
    model = light()
    text = [[7, 8, 9], [10], [11, 12]]
    cosines = (vectors(with_rounded_table(model), text) * vectors(model, text)).sum(-1)
    assert cosines.min() > 0.999
    assert isinstance(model.backbone, Light)
    assert not isinstance(model.backbone, RoundedLight)


def test_only_a_light_model_has_a_table_to_round() -> None:
    with pytest.raises(ModelError, match="'bert' has no table"):
        with_rounded_table(random_model("bert"))


def test_a_checkpoint_is_read_again(tmp_path: Path) -> None:
    model = light()
    tokenizer = write_tokenizer(tmp_path / "tokenizer.json")
    reading = Reading("", "[SEP]", window=64, left=16, right=16, longest=30)
    folder = tmp_path / "checkpoint"
    Checkpoint(model, Tokenizer.from_file(str(tokenizer)), reading).save(folder, torch.float32)
    again = open_checkpoint(folder)
    text = [[7, 8, 9], [10], [11, 12]]
    assert torch.equal(vectors(again.model, text), vectors(model, text))
    assert torch.equal(vectors(load_checkpoint(folder), text), vectors(model, text))
    assert again.reading.bos_token == ""
    assert not again.model.own_sentence
    cover(again.model, 205, near=LANDMARK)
    assert torch.equal(vectors(again.model, text), vectors(model, text))
    (folder / "config.json").write_text('{"model_type": "milepost_light", "vocab_size": 200}')
    with pytest.raises(ModelError, match="table_width"):
        open_checkpoint(folder)


def test_the_exported_folder_reads_as_torch_does(tmp_path: Path) -> None:
    model = light()
    tokenizer = write_tokenizer(tmp_path / "tokenizer.json")
    sizes = {"window": 64, "left": 16, "right": 16, "longest": 30}
    folder = tmp_path / "model"
    settings = {"bos_token": "", **sizes}
    small = with_rounded_table(model)
    manifest = export(small, tokenizer, folder, name="s", f32=False, bf16=True, settings=settings)
    assert manifest.dimensions == 16
    assert not manifest.own_sentence
    found = find_model(folder)
    assert found.precisions == ("bf16",)
    assert compare(model, found, SAMPLE)[0].holds
    # Beside the rounding nothing differs: the same weights in torch give the same vectors.
    exact = Encoder(found, TorchEngine(with_rounded_table(model)))
    graph = Encoder(found, OpenVinoEngine(found.graph(), cache=None, threads=1))
    for text in SAMPLE:
        cosines = (exact.encode(text).vectors * graph.encode(text).vectors).sum(-1)
        assert cosines.min() > 0.998
    assert graph.encode("").vectors.shape == (0, 16)


def test_the_one_that_ships_is_small_and_is_found_by_name() -> None:
    folder = find_model("landmark-light")
    assert sum(file.stat().st_size for file in folder.path.iterdir()) <= 8_000_000
    model = milepost.load("landmark-light", cache=False, threads=1)
    text = "The queen lays the eggs. Frost came early that year. Who paid for the voyage?"
    landmarks = model.encode(text)
    assert landmarks.vectors.shape == (3, 256)
    assert landmarks.tokens_read == landmarks.tokens_given
    scores = landmarks.vectors @ model.encode_query("When was it cold?")
    assert scores.argmax() == 1


def widened(table: torch.Tensor) -> torch.Tensor:
    return packed(table)(torch.arange(len(table))[None])[0]


@given(st.integers(0, 1 << 30), st.sampled_from([1e-3, 1.0, 100.0]))
@settings(max_examples=40, deadline=None)
def test_no_number_is_off_by_more_than_one_step(seed: int, size: float) -> None:
    """A step is an eighth of the block's largest number; at the far end there is one step less."""
    table = torch.randn(5, 3 * BLOCK, generator=torch.Generator().manual_seed(seed)) * size
    steps = table.unflatten(-1, (-1, BLOCK)).abs().amax(-1, keepdim=True) / 8
    off = (widened(table) - table).unflatten(-1, (-1, BLOCK)).abs()
    assert (off <= steps * 1.01).all()
    assert (off.mean() < steps.mean() * 0.3).item()


def test_what_was_packed_before_comes_out_as_it_was() -> None:
    once = widened(torch.randn(50, 64))
    assert torch.equal(widened(once), once)
    assert torch.equal(widened(torch.zeros(2, 32)), torch.zeros(2, 32))


def test_the_exported_graph_reads_the_packed_table(tmp_path: Path) -> None:
    """The same vectors as torch, and a file that is smaller by seven eighths of the table."""
    model = random_model("bert")
    small = with_packed_table(model)
    assert not isinstance(model.backbone.embeddings["word_embeddings"], PackedTable), "a copy"
    tokenizer = write_checkpoint(tmp_path / "init", "bert") / "tokenizer.json"
    for name, each in (("wide", model), ("small", small)):
        export(each, tokenizer, tmp_path / name, name=name)
    sizes = [(tmp_path / n / "openvino_f32.bin").stat().st_size for n in ("wide", "small")]
    assert sizes[0] - sizes[1] == pytest.approx(200 * 32 * (4 - 4.5 / 8), rel=0.02)
    ids = torch.tensor([[1, 7, 2, 199, 100, 2], [1, 5, 6, 2, 0, 0]], dtype=torch.int32)
    sentences = torch.tensor([[0, 1, 1, 2, 2, 2], [0, 1, 1, 1, -1, -1]], dtype=torch.int32)
    marks = torch.tensor([[2, 5], [3, 0]], dtype=torch.int32)
    with torch.no_grad():
        wanted = small(ids, sentences, marks).numpy()
    engine = OpenVinoEngine(tmp_path / "small" / "openvino_f32.xml", cache=None)
    found = engine.run(ids.numpy(), sentences.numpy(), marks.numpy())
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-5)
    np.testing.assert_allclose(found[1, 0], wanted[1, 0], atol=1e-5)


def test_what_cannot_be_packed_is_refused() -> None:
    with pytest.raises(ModelError, match="4 bits"):
        with_packed_table(LandmarkEncoder({**CONFIGS["bert"], "hidden_size": 40}))
