"""LoRA: an adapter trains, is saved alone, and merges to the same vectors."""

from pathlib import Path
from typing import Any

import pytest
import torch

from milepost.errors import ModelError
from milepost_train.model import merge_lora, open_checkpoint, with_lora
from support.tiny_models import tiny_folder

IDS = torch.tensor([[7, 30, 40, 50, 3, 60, 70, 80, 3], [7, 9, 10, 3, 11, 12, 13, 5, 3]])
SENTENCES = torch.tensor([[0, 1, 1, 1, 1, 2, 2, 2, 2], [0, 1, 1, 1, 2, 2, 2, 2, 2]])
MARKS = torch.tensor([[4, 8], [3, 8]])


def vectors(model: Any, landmark: int = 3) -> Any:
    with torch.no_grad():
        return model.eval()(IDS.where(IDS != 3, landmark), SENTENCES, MARKS)


def trained(model: Any, steps: int = 4, landmark: int = 3) -> list[float]:
    """The loss of a toy (every landmark towards a fixed target) before each step."""
    torch.manual_seed(2)
    target = torch.nn.functional.normalize(torch.randn(2, 2, 32), dim=-1)
    chosen = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=0.02)
    losses = []
    for _ in range(steps):
        found = model(IDS.where(IDS != 3, landmark), SENTENCES, MARKS)
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


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_a_new_landmark_is_trained_with_the_adapter(tmp_path: Path, kind: str) -> None:
    opened = open_checkpoint(tiny_folder(tmp_path / "base", kind), landmark="<lmk>")
    number = opened.tokenizer.token_to_id("<lmk>")
    with_lora(opened.model, rank=2, targets=["q_proj", "v_proj"], dropout=0.0, tokens=[number])
    names = [n for n, weight in opened.model.named_parameters() if weight.requires_grad]
    assert len(names) == 2 * 2 * 2 + 1
    trained(opened.model, landmark=number)
    opened.save(tmp_path / "adapter")
    again = open_checkpoint(tmp_path / "adapter")
    assert again.reading.landmark == "<lmk>"
    torch.testing.assert_close(vectors(again.model, number), vectors(opened.model, number))


def test_where_lora_cannot_be_put(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "m", "bert")
    ours = open_checkpoint(folder)
    with pytest.raises(ModelError, match="networks of transformers"):
        with_lora(ours.model)
    assert merge_lora(ours.model) is ours.model
    theirs = open_checkpoint(folder, transformers=True)
    with pytest.raises(ModelError, match="cannot be put there"):
        with_lora(theirs.model, targets=["no_such_layer"])
    with_lora(theirs.model, rank=2)
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
