"""Landmark checkpoints on disk: Hugging Face's names, float16 or float32 safetensors."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from milepost.errors import ModelError
from milepost.model.landmark_encoder import LandmarkEncoder

_MEND = "a checkpoint holds config.json, model.safetensors and tokenizer.json"


def load_checkpoint(folder: Path, *, own_sentence: bool = True) -> LandmarkEncoder:
    """Read ``config.json`` and ``model.safetensors`` of a BERT or ModernBERT; float32, eval mode.

    Weights of heads and poolers are passed over; a backbone weight that is missing is an error.

    Raises:
        ModelError: a file is missing or damaged, or the architecture is not known.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
    except FileNotFoundError as error:
        raise ModelError(f"{folder} is no checkpoint: {error}", _MEND) from error
    except Exception as error:  # safetensors raises its own, json ValueError
        raise ModelError(f"{folder} cannot be read: {error}", _MEND) from error
    try:
        model = LandmarkEncoder(config, own_sentence=own_sentence)
    except (KeyError, ValueError) as error:
        raise ModelError(f"{folder / 'config.json'}: {error}", _MEND) from error
    own = model.backbone.state_dict()
    kind = config["model_type"]
    # Heads save the backbone under a prefix ("bert.", "model.").
    named = {_bare(name, kind): weight.float() for name, weight in weights.items()}
    missing = sorted(set(own) - set(named))
    if missing:
        raise ModelError(f"{folder / 'model.safetensors'} lacks {missing[0]}", _MEND)
    model.backbone.load_state_dict({name: named[name] for name in own})
    model.eval()
    return model


def _bare(name: str, kind: str) -> str:
    for prefix in (f"{kind}.", "model."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def save_checkpoint(
    model: LandmarkEncoder, folder: Path, dtype: torch.dtype = torch.float16
) -> None:
    """Write ``config.json`` and ``model.safetensors``; the tokenizer is the caller's to copy."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(model.config, indent=1, sort_keys=True) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    state = model.backbone.state_dict()
    halves = {name: weight.to(dtype).contiguous() for name, weight in state.items()}
    save_file(halves, folder / "model.safetensors")
