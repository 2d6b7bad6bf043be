"""The pool: descendants share weights, count what they run, and read alike from disk."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.small_models import CONFIGS, random_model, write_tokenizer

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from milepost.errors import InputError, ModelError  # noqa: E402
from milepost_lab.model.stitch.affine import Affine, identity  # noqa: E402
from milepost_lab.model.stitch.folder import CONFIG, WEIGHTS, load_pool, save_pool  # noqa: E402
from milepost_lab.model.stitch.paths import Path, early_exits  # noqa: E402
from milepost_lab.model.stitch.pool import EncoderPool  # noqa: E402
from milepost_lab.model.stitch.starts import STARTS, begin  # noqa: E402
from milepost_train.model import LandmarkEncoder, load_checkpoint, open_checkpoint  # noqa: E402
from milepost_train.model.checkpoint import Checkpoint  # noqa: E402
from milepost_train.model.export import convert  # noqa: E402
from milepost_train.model.reading import Reading  # noqa: E402

WIDE = CONFIGS["bert"]
NARROW = {**WIDE, "hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2}
IDS = torch.tensor([[2, 20, 21, 22, 3, 30, 31, 3], [2, 40, 41, 42, 43, 3, 0, 0]])
SENTENCES = torch.tensor([[0, 1, 1, 1, 1, 2, 2, 2], [0, 1, 1, 1, 1, 1, -1, -1]])
MARKS = torch.tensor([[4, 7], [5, 0]])


def small_pool(seed=1, **settings):
    """Random weights that are large enough to make states differ."""
    torch.manual_seed(seed)
    pool = EncoderPool(NARROW, WIDE, **settings)
    with torch.no_grad():
        for name, weight in pool.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.6 if "embed" in name else 0.25)
    return pool.eval()


def read(encoder):
    with torch.no_grad():
        return encoder(IDS, SENTENCES, MARKS)


def twins():
    """A pool of two equal copies of one encoder, stitched by identity."""
    model = random_model("bert")
    pool = EncoderPool(WIDE, WIDE)
    for part in (pool.narrow, pool.wide):
        part.load_state_dict(model.backbone.state_dict())
    for stitch in pool.stitches:
        identity(32).write(stitch)
    return model, pool.eval()


def test_equal_copies_stitched_by_identity_are_the_model():
    """Block j of one, block j + 1 of the other: nothing shows."""
    model, pool = twins()
    expected = read(model)
    for name in ("wide", "0-1", "1-2"):
        torch.testing.assert_close(read(pool.encoder(name)), expected)
    assert not torch.allclose(read(pool.encoder("0-0")), expected, atol=1e-3)


def test_least_squares_finds_the_identity_between_equal_copies():
    """From activations alone, where the paths of a stitch neither skip nor repeat a block."""
    model, pool = twins()
    for stitch in pool.stitches:
        torch.nn.init.normal_(stitch.weight)
    pool.paths = [path for path in pool.paths if path.name in ("narrow", "wide", "0-1", "1-2")]
    windows = [(torch.randint(5, 200, (8, 24)), torch.ones(8, 24, dtype=torch.bool))]
    begin(pool, "least_squares", windows=windows)
    # Not the identity itself: normed states leave one direction free, which reads nothing.
    for name in ("0-1", "1-2"):
        torch.testing.assert_close(read(pool.encoder(name)), read(model), atol=5e-3, rtol=0)


@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_parameters_are_those_that_are_run(kernel):
    """The formula counts each encoder's own; the pool holds every part once."""
    pool = small_pool(kernel=kernel)
    for path in [*pool.paths, *early_exits(3)]:
        encoder = pool.encoder(path)
        assert sum(each.numel() for each in encoder.parameters()) == pool.parameters_of(path)
        held = {id(each) for each in pool.parameters()}
        assert {id(each) for each in encoder.parameters()} <= held


@pytest.mark.parametrize("name", ["narrow", "0-0", "1-2", "wide"])
def test_operations_are_those_that_torch_counts(name):
    """On two windows of eight tokens with two landmarks each."""
    pool = small_pool()
    encoder = pool.encoder(name)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        read(encoder)
    assert counter.get_total_flops() == 2 * pool.operations_of(pool.path(name), 8, 2)


def test_what_is_not_on_the_path_does_not_move():
    """A step of a stitched encoder changes its blocks, its stitch and its tables, no others."""
    pool = small_pool().train()
    before = {name: each.detach().clone() for name, each in pool.named_parameters()}
    optimizer = torch.optim.AdamW(pool.parameters(), lr=0.01, weight_decay=0.1)
    pool.encoder("0-1")(IDS, SENTENCES, MARKS)[:, 0, 0].sum().backward()
    optimizer.step()
    moved = {name for name, each in pool.named_parameters() if not torch.equal(each, before[name])}
    assert moved
    on = ("narrow.embeddings", "narrow.encoder.layer.0", "stitches.0", "wide.encoder.layer.1",
          "wide.encoder.layer.2")  # fmt: skip
    assert all(name.startswith(on) for name in moved)
    assert {place for place in on if any(name.startswith(place) for name in moved)} == set(on)


def test_padding_and_company_change_nothing():
    """A window alone has the vectors that it has beside a longer one."""
    pool = small_pool()
    for path in pool.paths:
        encoder = pool.encoder(path)
        with torch.no_grad():
            alone = encoder(IDS[1:, :6], SENTENCES[1:, :6], MARKS[1:, :1])
        torch.testing.assert_close(read(encoder)[1:, :1], alone, atol=1e-5, rtol=1e-5)


def test_sizes_and_names():
    """S, M and L rise in cost; an unknown name is answered with the nearest."""
    pool = small_pool()
    costs = [pool.parameters_of(pool.sizes[size]) for size in "SML"]
    assert pool.sizes["S"].name == "narrow"
    assert pool.sizes["L"].name == "wide"
    assert costs[0] < costs[1] < costs[2]
    assert pool.path("1-2") == Path(2, 2, 3, 1)
    with pytest.raises(InputError, match="try: 'narrow'"):
        pool.path("narow")


def test_one_folder_holds_every_size(tmp_path):
    """Saved and read again, each descendant gives the same vectors; weights are there once."""
    pool = small_pool(kernel=3, own_sentence=False)
    save_pool(pool, tmp_path, torch.float32)
    again = load_pool(tmp_path)
    for path in pool.paths:
        assert torch.equal(read(again.encoder(path.name)), read(pool.encoder(path)))
    assert {file.name for file in tmp_path.iterdir()} == {CONFIG, WEIGHTS}
    said = json.loads((tmp_path / CONFIG).read_text())
    assert said["descendants"][pool.sizes["M"].name] == pool.parameters_of(pool.sizes["M"])
    weights = sum(each.numel() for each in pool.parameters())
    assert (tmp_path / WEIGHTS).stat().st_size < 4 * weights + 20000
    (tmp_path / CONFIG).write_text(json.dumps({**said, "schema": 2}))
    with pytest.raises(ModelError, match="has schema 2, this version reads schema 1"):
        load_pool(tmp_path)
    (tmp_path / CONFIG).write_text("[1]")
    with pytest.raises(ModelError, match=r"no schema number.*milepost lab stitch"):
        load_pool(tmp_path)
    wider = {**WIDE, "intermediate_size": 80}
    (tmp_path / CONFIG).write_text(json.dumps({**said, "wide": wider}))
    with pytest.raises(ModelError, match=r"pool\.safetensors does not match .*: wide\."):
        load_pool(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({**said, "wide": {}}))
    with pytest.raises(ModelError, match="damaged"):
        load_pool(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(ModelError, match="not a pool"):
        load_pool(tmp_path)


@pytest.mark.parametrize("name", ["narrow", "1-1", "wide"])
def test_a_descendant_is_a_checkpoint_like_any_other(name, tmp_path):
    """Saved alone it opens as a landmark encoder, and its exported graph computes the same."""
    from tokenizers import Tokenizer

    encoder = small_pool().encoder(name)
    tokenizer = Tokenizer.from_file(str(write_tokenizer(tmp_path / "words.json")))
    folder = tmp_path / "one"
    Checkpoint(encoder, tokenizer, Reading("[CLS]", "[SEP]", own_sentence=True)).save(
        folder, torch.float32
    )
    opened = open_checkpoint(folder)
    assert isinstance(opened.model, LandmarkEncoder)
    torch.testing.assert_close(read(opened.model), read(encoder))
    assert torch.equal(read(load_checkpoint(folder)), read(opened.model))
    # A landmark of another name gets a row in the table.
    wider = open_checkpoint(folder, landmark="<lmk>").model
    assert wider.config["vocab_size"] == 201
    torch.testing.assert_close(read(wider), read(encoder))


def test_a_stitched_encoder_exports():
    """The graph takes any number of tokens and gives torch's vectors."""
    openvino = pytest.importorskip("openvino")
    encoder = small_pool().encoder("1-1")
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    graph = openvino.Core().compile_model(convert(encoder), "CPU", exact)
    found = graph([each.int().numpy() for each in (IDS, SENTENCES, MARKS)])[0]
    np.testing.assert_allclose(found[0], read(encoder)[0].numpy(), atol=1e-4)
    np.testing.assert_allclose(found[1, 0], read(encoder)[1, 0].numpy(), atol=1e-4)


def test_starts_from_the_maps_of_the_distillation():
    """Where narrow states are W x + b of wide ones, the inverse stitch gives x back."""
    random = torch.Generator().manual_seed(3)
    pool = EncoderPool(WIDE, WIDE)  # square, so that nothing is lost
    down = Affine(
        torch.linalg.qr(torch.randn(32, 32, generator=random).double()).Q * 2.0,
        torch.randn(32, generator=random).double(),
    )
    x = torch.randn(5, 32, generator=random).double()
    for kind, same in (("pinv", True), ("transpose", False)):
        begin(pool, kind, narrow=[down] * 3)
        for stitch in pool.stitches:
            back = Affine.of(stitch)(down(x))
            assert torch.allclose(back, x, atol=1e-4) == same
    # Through the wide encoder's own map, where its space is another than the ancestor's.
    up = Affine(torch.eye(32).double() * 3.0, torch.ones(32).double())
    begin(pool, "pinv", narrow=[down] * 3, wide=[up] * 3)
    torch.testing.assert_close(Affine.of(pool.stitches[0])(down(x)), up(x), atol=1e-3, rtol=1e-4)
    kept = pool.stitches[0].weight.clone()
    begin(pool, "random")
    assert torch.equal(pool.stitches[0].weight, kept)


def test_starts_that_cannot_be():
    """An unknown one, maps or activations that are missing, encoders that do not fit."""
    pool = small_pool()
    assert STARTS == ("random", "transpose", "pinv", "least_squares")
    for kind, words in (
        ("transposed", "try: 'transpose'"),
        ("pinv", "0 maps for 3 blocks"),
        ("least_squares", "without activations"),
    ):
        with pytest.raises(InputError, match=words):
            begin(pool, kind)
    with pytest.raises(InputError, match="num_hidden_layers is 2"):
        EncoderPool({**NARROW, "num_hidden_layers": 2}, WIDE)
    with pytest.raises(InputError, match="try: bert"):
        EncoderPool(CONFIGS["modernbert"], CONFIGS["modernbert"])
