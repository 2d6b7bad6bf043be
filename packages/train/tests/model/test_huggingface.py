"""Encoders and decoders of transformers as landmark encoders, on tiny random weights; LoRA."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BartConfig, BartModel

from milepost.errors import ModelError
from milepost_train.model import LandmarkEncoder, merge_lora, open_checkpoint, with_lora
from milepost_train.model.huggingface import HuggingFace
from support.tiny_models import CAUSAL, KINDS, tiny_folder, tiny_network

LENGTHS = (5, 3, 6)  # tokens of each sentence with its landmark


def encoder_of(kind: str, **changes: Any) -> Any:
    """A landmark encoder by the network of transformers, full attention."""
    bidirectional = changes.pop("bidirectional", False)
    backbone = HuggingFace(tiny_network(kind, **changes), bidirectional=bidirectional)
    return LandmarkEncoder(backbone.config, own_sentence=False, backbone=backbone)


def window(seed: int = 1, landmark: int = 3) -> tuple[Any, Any, Any]:
    """One window of three sentences after a BOS token."""
    torch.manual_seed(seed)
    ids = torch.randint(5, 80, (1, 1 + sum(LENGTHS)))
    numbers = [0] + [n for n, length in enumerate(LENGTHS, 1) for _ in range(length)]
    marks = torch.tensor([LENGTHS]).cumsum(1)
    ids[0, marks[0]] = landmark
    return ids, torch.tensor([numbers]), marks


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_are_rows_of_the_last_states(kind: str) -> None:
    model = encoder_of(kind)
    ids, sentences, marks = window()
    with torch.no_grad():
        states = model.backbone.network(input_ids=ids).last_hidden_state
        wanted = torch.nn.functional.normalize(states[0, marks[0]], dim=-1)
        torch.testing.assert_close(model(ids, sentences, marks)[0], wanted, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filler", [1, 3, 42])
def test_padding_and_neighbours_change_nothing(kind: str, filler: int) -> None:
    model = encoder_of(kind)
    ids, sentences, marks = window()
    beside = torch.randint(5, 80, (2, 61))
    beside[0, ids.shape[1] :] = filler
    beside[0, : ids.shape[1]] = ids[0]
    numbers = torch.ones(2, 61, dtype=torch.long)
    numbers[0] = -1
    numbers[0, : ids.shape[1]] = sentences[0]
    both = torch.zeros(2, 4, dtype=torch.long)
    both[0, :3] = marks[0]
    with torch.no_grad():
        together = model(beside, numbers, both)
        alone = model(ids, sentences, marks)
    assert bool(together.isfinite().all())
    torch.testing.assert_close(together[0, :3], alone[0], atol=3e-6, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_landmark_sees(kind: str) -> None:
    """A decoder's landmark sees what stands before it and nothing behind; an encoder's sees all."""
    model = encoder_of(kind)
    assert model.causal == (kind in CAUSAL)
    ids, sentences, marks = window()
    behind, before = ids.clone(), ids.clone()
    behind[0, 10:13] = 77
    before[0, 2] = 77
    with torch.no_grad():
        vectors = model(ids, sentences, marks)
        after = model(behind, sentences, marks)
        assert torch.equal(vectors[:, :2], after[:, :2]) == (kind in CAUSAL)
        assert not torch.allclose(vectors[:, 2], after[:, 2], atol=1e-4)
        moved = model(before, sentences, marks)
    assert not torch.isclose(vectors, moved, atol=1e-4).all(-1).any()


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_decoder_can_see_both_sides(kind: str) -> None:
    """Read bidirectionally, a decoder's landmark changes with what follows; padding still not."""
    model = encoder_of(kind, bidirectional=True)
    assert not model.causal
    ids, sentences, marks = window()
    behind = ids.clone()
    behind[0, 10:13] = 77
    more = torch.cat((ids, torch.full((1, 5), 9)), 1)
    padded = torch.cat((sentences, torch.full((1, 5), -1)), 1)
    with torch.no_grad():
        vectors = model(ids, sentences, marks)
        changed = model(behind, sentences, marks)
        assert not torch.isclose(vectors, changed, atol=1e-4).all(-1).any()
        torch.testing.assert_close(model(more, padded, marks), vectors, atol=2e-6, rtol=1e-4)


def test_the_longest_window(tmp_path: Path) -> None:
    """A network says how long a text it has positions for; XLM-R leaves out its pad and below."""
    assert encoder_of("bert").backbone.max_tokens == 256
    assert encoder_of("llama", max_position_embeddings=99).backbone.max_tokens == 99
    model = encoder_of("xlm-roberta", pad_token_id=1)
    most = model.backbone.max_tokens
    assert most == 254
    ids = torch.full((1, most), 1)  # its pad token's id counts as a token, too
    with torch.no_grad():
        full = model(ids, torch.ones_like(ids), torch.tensor([[most - 1]]))
        assert bool(full.isfinite().all())
        with pytest.raises((IndexError, RuntimeError)):
            model(torch.full((1, most + 1), 5), torch.ones(1, most + 1), torch.tensor([[most]]))


def test_what_cannot_be_read_at_landmarks() -> None:
    """An encoder with a decoder has no one state a token."""
    bart = BartConfig(vocab_size=50, d_model=16, encoder_layers=1, decoder_layers=1)
    with pytest.raises(ModelError, match="bart is an encoder with a decoder"):
        HuggingFace(BartModel(bart))


@pytest.mark.parametrize("kind", ["bert", "llama", "modernbert"])
@pytest.mark.parametrize("plain", [False, True])
def test_a_landmark_of_its_own(tmp_path: Path, kind: str, plain: bool) -> None:
    """A new token gets the separator's row to begin from, and is kept by the folder."""
    folder = tiny_folder(tmp_path / "m", kind)
    usual = open_checkpoint(folder, transformers=plain)
    opened = open_checkpoint(folder, transformers=plain, landmark="<lmk>")
    number = opened.tokenizer.token_to_id("<lmk>")
    near = usual.tokenizer.token_to_id(usual.reading.landmark)
    assert usual.tokenizer.token_to_id("<lmk>") is None
    assert opened.model.config["vocab_size"] == number + 1
    old, new = window(landmark=near), window(landmark=number)
    with torch.no_grad():
        wanted = usual.model(*old)
        torch.testing.assert_close(opened.model(*new), wanted)
        opened.save(tmp_path / "saved", torch.float32)
        again = open_checkpoint(tmp_path / "saved")
        assert again.reading == opened.reading
        assert again.tokenizer.token_to_id("<lmk>") == number
        torch.testing.assert_close(again.model(*new), wanted, atol=2e-6, rtol=1e-4)


def test_the_pad_is_never_the_landmark(tmp_path: Path) -> None:
    """Where the end of text is the pad too, the network forgets the pad: the landmark learns."""
    opened = open_checkpoint(tiny_folder(tmp_path / "q", "qwen2"))
    landmark = opened.tokenizer.token_to_id(opened.reading.landmark)
    assert opened.reading.landmark == "<|endoftext|>"
    assert opened.model.config["pad_token_id"] is None
    ids, sentences, marks = window(landmark=landmark)
    opened.model(ids, sentences, marks)[0, 1, 0].backward()
    table = opened.model.backbone.network.get_input_embeddings().weight
    assert bool(table.grad[landmark].any())


IDS = torch.tensor([[7, 30, 40, 50, 3, 60, 70, 80, 3], [7, 9, 10, 3, 11, 12, 13, 5, 3]])
SENTENCES = torch.tensor([[0, 1, 1, 1, 1, 2, 2, 2, 2], [0, 1, 1, 1, 2, 2, 2, 2, 2]])
MARKS = torch.tensor([[4, 8], [3, 8]])


def vectors(model: Any) -> Any:
    with torch.no_grad():
        return model.eval()(IDS, SENTENCES, MARKS)


def trained(model: Any, steps: int = 4) -> list[float]:
    """The loss of a toy (every landmark towards a fixed target) before each step."""
    torch.manual_seed(2)
    target = torch.nn.functional.normalize(torch.randn(2, 2, 32), dim=-1)
    chosen = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=0.02)
    losses = []
    for _ in range(steps):
        found = model(IDS, SENTENCES, MARKS)
        loss = (1 - (found * target).sum(-1)).mean()
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return losses


@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2", "qwen3", "xlm-roberta"])
def test_an_adapter_trains_saves_and_merges(tmp_path: Path, kind: str) -> None:
    folder = tiny_folder(tmp_path / "base", kind)
    opened = open_checkpoint(folder)
    before = vectors(opened.model)
    frozen = {name: weight.clone() for name, weight in opened.model.named_parameters()}
    with_lora(opened.model, rank=4, alpha=8, dropout=0.0)
    torch.testing.assert_close(vectors(opened.model), before)
    losses = trained(opened.model)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.9 * losses[0]
    wanted = vectors(opened.model)
    assert not torch.allclose(wanted, before, atol=1e-3)

    opened.save(tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "model.safetensors").exists()
    again = open_checkpoint(tmp_path / "adapter")
    torch.testing.assert_close(vectors(again.model), wanted)
    assert not any(weight.requires_grad for weight in again.model.parameters())
    more = open_checkpoint(tmp_path / "adapter", trainable=True)
    assert trained(more.model, 1)[0] < losses[-1]

    merge_lora(opened.model)
    torch.testing.assert_close(vectors(opened.model), wanted, atol=3e-6, rtol=1e-4)
    assert dict(opened.model.named_parameters()).keys() == frozen.keys()
    opened.save(tmp_path / "whole", torch.float32)
    torch.testing.assert_close(
        vectors(open_checkpoint(tmp_path / "whole").model), wanted, atol=3e-6, rtol=1e-4
    )


def test_where_lora_cannot_be_put(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "m", "bert")
    ours = open_checkpoint(folder)
    with pytest.raises(
        ModelError, match='networks of transformers; try: "transformers = true" at the top'
    ):
        with_lora(ours.model)
    assert merge_lora(ours.model) is ours.model
    theirs = open_checkpoint(folder, transformers=True)
    with pytest.raises(ModelError, match="cannot be put there"):
        with_lora(theirs.model, targets=["no_such_layer"])
    with_lora(theirs.model, rank=2, targets=["query"])
    names = [n for n, weight in theirs.model.named_parameters() if weight.requires_grad]
    assert ["query.lora" in name for name in names] == [True] * 2 * 2
    with pytest.raises(ModelError, match="LoRA already"):
        with_lora(theirs.model)


def test_an_adapter_without_its_base(tmp_path: Path) -> None:
    base = tiny_folder(tmp_path / "base", "llama")
    opened = open_checkpoint(base)
    with_lora(opened.model, rank=2)
    opened.save(tmp_path / "adapter")
    base.rename(tmp_path / "moved")
    with pytest.raises(ModelError, match="base"):
        open_checkpoint(tmp_path / "adapter")
    tiny_folder(tmp_path / "base", "llama", hidden_size=16, head_dim=4)
    with pytest.raises(ModelError, match="is not an adapter of its base"):
        open_checkpoint(tmp_path / "adapter")
