"""Read and write landmark checkpoints, Milepost's or Hugging Face's, complete or as LoRA.

LoRA (arXiv 2106.09685) with peft trains large decoders through a few small matrices.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from milepost._optional import require
from milepost.errors import ModelError, first_line
from milepost_train.config import Weights
from milepost_train.model.huggingface import ATTENTION, HuggingFace, load_network, quiet
from milepost_train.model.landmark_encoder import (
    BACKBONES,
    LandmarkEncoder,
    Reading,
    Verdicts,
    read_reading,
)
from milepost_train.model.layouts import network_of, reading_of
from milepost_train.model.special import (
    HINT,
    TOKENIZER,
    add_token,
    base_of,
    choose_landmark,
    load_tokenizer,
    local,
    read_config,
    special_tokens,
    write_special_tokens,
)


def with_lora(
    model: LandmarkEncoder,
    rank: int = 16,
    alpha: float = 32.0,
    dropout: float = 0.1,
    targets: Sequence[str] | None = None,
    *,
    tokens: Sequence[int] = (),
) -> LandmarkEncoder:
    """Freeze the network and add trainable matrices to its linear layers; changed in place.

    ``rank``, ``alpha``, ``dropout`` and ``targets`` (None for all linear layers) are those of peft.
    The embeddings of ``tokens``, such as a new landmark, are trained as well.
    """
    peft = require("peft", extra="train")
    backbone = _of_transformers(model)
    if is_adapted(model):
        raise ModelError("the model has LoRA already", "merge it first with merge_lora")
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules="all-linear" if targets is None else list(targets),
        trainable_token_indices=list(tokens) or None,
    )
    try:
        with quiet():
            backbone.network = peft.get_peft_model(backbone.network, config)
    except ValueError as error:
        raise ModelError(f"LoRA cannot be put there: {error}", "name other targets") from error
    return model


def merge_lora(model: LandmarkEncoder) -> LandmarkEncoder:
    """Merge the LoRA matrices, if there are any, into the weights, in place; same vectors."""
    if is_adapted(model):
        backbone: Any = model.backbone
        backbone.network = backbone.network.merge_and_unload()
        backbone.network.requires_grad_(True)
    return model


def attach(model: LandmarkEncoder, folder: Path, *, trainable: bool) -> None:
    """Load a saved adapter onto its base."""
    peft = require("peft", extra="train")
    backbone = _of_transformers(model)
    try:
        with quiet():
            backbone.network = peft.PeftModel.from_pretrained(
                backbone.network, str(folder), is_trainable=trainable
            )
    except Exception as error:  # peft, safetensors and torch raise their own
        first = first_line(error)
        raise ModelError(
            f"{folder} is not an adapter of its base: {first}", "train it again on that base"
        ) from error


def is_adapted(model: LandmarkEncoder) -> bool:
    """Whether the network has LoRA."""
    network: Any = getattr(model.backbone, "network", None)
    return hasattr(network, "peft_config")


def _of_transformers(model: LandmarkEncoder) -> HuggingFace:
    if not isinstance(model.backbone, HuggingFace):
        raise ModelError(
            "LoRA works only with networks of transformers",
            '"transformers = true" at the top of the configuration',
        )
    return model.backbone


@dataclass(slots=True)
class Checkpoint:
    """A landmark encoder, a tokenizer with the landmark in it, and settings.

    ``special`` are the tokenizer's special tokens by name, ``sep_token`` …
    """

    model: LandmarkEncoder
    tokenizer: Tokenizer
    reading: Reading
    special: dict[str, str] = field(default_factory=dict)

    def save(self, folder: Path, dtype: torch.dtype = torch.float16) -> None:
        """Write a folder that ``open_checkpoint`` reads; an adapter is written without its base."""
        save_checkpoint(self.model, folder, dtype)
        self.tokenizer.save(str(folder / TOKENIZER))
        write_special_tokens(folder, self.special)
        self.reading.write(folder)


def open_checkpoint(
    source: str | Path,
    *,
    landmark: str | None = None,
    bos_token: str | None = None,
    bidirectional: bool | None = None,
    transformers: bool | None = None,
    attention: str = ATTENTION,
    trainable: bool = False,
    new_landmark: bool = True,
    weights: Weights = "float32",
    device: str = "cpu",
) -> Checkpoint:
    """Open a folder, or a model by its name on the hub, as a landmark encoder.

    BERT, ModernBERT and Milepost's architectures run on Milepost's networks, any other encoder or
    decoder on ``transformers``; a folder with ``adapter_config.json`` is a LoRA adapter on its
    base. In a sentence-transformers folder the network is found even in a subfolder. Arguments that
    are None default to the folder's ``landmark.json``, else to its LMK pooling settings, else to
    its tokenizer.

    ``landmark``, ``bos_token``, ``bidirectional``, ``transformers`` and ``attention`` are those of
    ``docs/training.md``. A landmark that the vocabulary lacks is created, with ``new_landmark``
    False (it will not be trained) refused. ``trainable`` loads an adapter for further training;
    ``weights`` and ``device`` are those of ``loading``.

    Raises:
        ModelError: a file is missing or damaged, the architecture cannot be read at landmarks, or
            a token is not in the vocabulary.
        MissingExtra: peft is not installed for an adapter, or bitsandbytes for 4-bit weights.
    """
    given = local(source)
    folder = network_of(given)
    below = base_of(folder)
    root = given if below == folder else below
    base = network_of(root)
    config = read_config(base)
    said = read_reading(folder) or reading_of(root)
    tokenizer = load_tokenizer(folder if (folder / TOKENIZER).is_file() else base)
    special = special_tokens(base, tokenizer)
    usual = choose_landmark(special, landmark or (said.landmark if said else None))
    if not new_landmark and tokenizer.token_to_id(usual) is None:
        raise ModelError(
            f"the vocabulary has no {usual!r}, and an untrained new token means nothing",
            f"name one that it has, or train it: landmark = {usual!r} in the "
            "configuration of milepost train",
        )
    usual_bos = said.bos_token if said else special.get("cls_token", special.get("bos_token", ""))
    plain = said.transformers if transformers is None and said else bool(transformers)
    ours = config.get("model_type") in BACKBONES and not plain and base == folder
    both = said.bidirectional if bidirectional is None and said else bool(bidirectional)
    reading = dataclasses.replace(
        said or Reading("", "", own_sentence=ours),
        bos_token=usual_bos if bos_token is None else bos_token,
        landmark=usual,
        bidirectional=both,
        transformers=plain or base != folder,
    )
    if ours:
        if weights != "float32":
            raise ModelError(
                f"{folder} is read by Milepost's own network, whose weights are float32",
                "transformers = true in the configuration, or leave weights out",
            )
        if both:
            raise ModelError(f"{folder} sees both sides as it is", "leave bidirectional out")
        model = _ours(folder, config, reading)
    else:
        reading = dataclasses.replace(reading, own_sentence=False)
        name = str(base.resolve()) if base != folder or Path(source).is_dir() else str(source)
        model = _by_transformers(base, both, attention, name, loading(weights, device))
        if reading.verdicts and base == folder:  # an adapter's folder has none
            model.verdicts = Verdicts(int(model.backbone.width))
            _load_verdicts(model.verdicts, folder / "model.safetensors")
    _prepare(model, tokenizer, special, reading)
    if base != folder:
        attach(model, folder, trainable=trainable)
    return Checkpoint(model.eval(), tokenizer, reading, special)


def _prepare(
    model: LandmarkEncoder, tokenizer: Tokenizer, special: dict[str, str], reading: Reading
) -> None:
    """Give the landmark an embedding, and make sure that it is not the network's pad token."""
    if reading.bos_token and tokenizer.token_to_id(reading.bos_token) is None:
        raise ModelError(
            f"the tokenizer has no token {reading.bos_token!r} to open a window with",
            "name one of its own, or none by an empty string",
        )
    near = special.get("sep_token") or special.get("eos_token")
    number = add_token(tokenizer, reading.landmark)
    cover(model, number, near=tokenizer.token_to_id(near) if near else None)
    backbone = model.backbone
    pad = model.config.get("pad_token_id")
    if pad == number and isinstance(backbone, HuggingFace):
        # Common for decoders. Milepost needs no pad token: masks come from lengths.
        if backbone.first:
            raise ModelError(
                f"{reading.landmark!r} is the pad token, by which this network counts positions",
                "name another landmark",
            )
        backbone.forget_pad()
        model.config = backbone.config


def _by_transformers(
    folder: Path, bidirectional: bool, attention: str, name: str, weights: dict[str, Any]
) -> LandmarkEncoder:
    """Load a folder with ``transformers``; adapters record ``name`` as their base."""
    if attention != "sdpa":  # which transformers takes by itself where the network has it
        weights = {**weights, "attn_implementation": attention}
    network = load_network(folder, **weights)
    network.name_or_path = name
    try:
        backbone = HuggingFace(network, bidirectional=bidirectional)
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        raise ModelError(
            f"{network.config.model_type} cannot be read at landmarks: {error}",
            "use an encoder or a decoder of text",
        ) from error
    return LandmarkEncoder(backbone.config, own_sentence=False, backbone=backbone)


def load_checkpoint(folder: Path) -> LandmarkEncoder:
    """Open only the model of a folder, see ``open_checkpoint``; it is in evaluation mode."""
    return open_checkpoint(folder).model


def _ours(folder: Path, config: dict[str, Any], reading: Reading) -> LandmarkEncoder:
    try:
        weights = load_file(folder / "model.safetensors")
    except FileNotFoundError as error:
        raise ModelError(f"{folder} is not a checkpoint: {error}", HINT) from error
    except Exception as error:  # safetensors raises its own
        raise ModelError(f"{folder} cannot be read: {error}", HINT) from error
    try:
        model = LandmarkEncoder(config, own_sentence=reading.own_sentence)
    except KeyError as error:
        raise ModelError(f"{folder / 'config.json'} has no {error.args[0]}", HINT) from error
    except ValueError as error:
        raise ModelError(
            f"{folder / 'config.json'}: {error}",
            "transformers = true in the configuration of milepost train",
        ) from error
    model.read_as(reading)
    # Heads save the backbone under a prefix.
    prefix = re.compile(rf"^({config['model_type']}|model)\.")
    named = {prefix.sub("", name): weight for name, weight in weights.items()}
    _load(model.backbone, named, folder / "model.safetensors")
    if model.context is not None or model.verdicts is not None:
        loaded = model.backbone.state_dict(prefix="backbone.")
        _load(model, {**weights, **loaded}, folder / "model.safetensors")
    return model


def _load_verdicts(verdicts: Verdicts, path: Path) -> None:
    """Read only these of a file that may hold gigabytes."""
    prefix = "verdicts."
    with safe_open(path, "pt") as file:
        names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
        _load(verdicts, {name.removeprefix(prefix): file.get_tensor(name) for name in names}, path)


def _load(module: nn.Module, named: Mapping[str, Tensor], path: Path) -> None:
    own = module.state_dict()
    for name, weight in own.items():
        if name not in named:
            raise ModelError(f"{path} lacks {name}", HINT)
        if named[name].shape != weight.shape:
            raise ModelError(
                f"{path} does not match its configuration: {name} has the shape "
                f"{tuple(named[name].shape)}, not {tuple(weight.shape)}",
                HINT,
            )
    module.load_state_dict({name: named[name].float() for name in own})


def save_checkpoint(
    model: LandmarkEncoder, folder: Path, dtype: torch.dtype = torch.float16
) -> None:
    """Write config and weights; for a model with LoRA only the adapter, in its own precision.

    The caller writes the tokenizer and ``landmark.json``, see ``Checkpoint.save``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    backbone = model.backbone
    if is_adapted(model):
        # Not left to peft, which would query the hub to find out whether embeddings were added.
        backbone.network.save_pretrained(str(folder), save_embedding_layers=False)
        return
    text = json.dumps(model.config, indent=1, sort_keys=True) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    named = backbone.network if isinstance(backbone, HuggingFace) else backbone
    beside = {n: each for n, each in model.state_dict().items() if not n.startswith("backbone.")}
    weights = {**named.state_dict(), **beside}
    halves = {name: weight.to(dtype).contiguous().clone() for name, weight in weights.items()}
    save_file(halves, folder / "model.safetensors", metadata={"format": "pt"})


def cover(model: LandmarkEncoder, number: int, *, near: int | None) -> None:
    """Extend the embedding table so that it has a row for id ``number``, if it has none.

    New rows are copies of row ``near`` (the separator, whose role the landmark takes over), or the
    mean of all rows. They are deterministic, so that an adapter finds the base it was trained on.
    """
    backbone: Any = model.backbone
    of_transformers = isinstance(backbone, HuggingFace)
    name = "" if of_transformers else next(iter(backbone.embeddings))  # the first is of tokens
    old = backbone.network.get_input_embeddings() if of_transformers else backbone.embeddings[name]
    rows = old.weight.shape[0]
    if number < rows:
        return
    with torch.no_grad():
        begin: Tensor = old.weight.mean(0) if near is None else old.weight[near]
        weight = torch.cat((old.weight, begin.expand(number + 1 - rows, -1)))
    new = nn.Embedding(*weight.shape, padding_idx=old.padding_idx, _weight=weight)
    if of_transformers:
        backbone.network.set_input_embeddings(new)
        backbone.network.config.vocab_size = number + 1
        model.config = backbone.config
    else:
        backbone.embeddings[name] = new
        model.config = {**model.config, "vocab_size": number + 1}


def loading(weights: Weights, device: str) -> dict[str, Any]:
    """The arguments of ``from_pretrained``; 4-bit weights are made on the device, others moved."""
    if weights != "4bit":
        return {"dtype": getattr(torch, weights)}
    require("bitsandbytes", extra="qlora")
    from transformers import BitsAndBytesConfig

    four = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.float32 if device == "cpu" else torch.bfloat16,
    )
    return {"quantization_config": four, "dtype": torch.float32, "device_map": {"": device}}
