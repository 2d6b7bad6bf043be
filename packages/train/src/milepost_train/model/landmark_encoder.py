"""The landmark encoder: token ids of windows → unit vectors at their landmarks.

After Luo et al. (Landmark Embedding, arXiv 2402.11573): a landmark token closes every sentence
and its last state is the sentence's vector. Milepost differs in two settings of the manifest: the
encoder is bidirectional, and in the last layer a landmark attends only to its own sentence (the
layers below have added the context). The last layer is computed only at landmarks.

``landmark.json`` says how a checkpoint reads text: ``config.json`` describes the network, but
neither the token that closes a sentence nor the window sizes of training. For a folder without this
file, the tokenizer's special tokens are used.
"""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from milepost.encoder.engine.manifest import SENTENCES
from milepost.encoder.engine.schema import check_schema
from milepost.encoder.engine.verdict_head import SCALE, VerdictHead
from milepost.errors import InputError, ModelError
from milepost.verdicts import VERDICTS
from milepost_train.model.bert import Bert, BertLayer, ModernBert, ModernBertLayer
from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.light import MODEL_TYPE, Light
from milepost_train.settings import CHECKED, Amount, Count

READING = "landmark.json"
SCHEMA = 2
_LATER = ("granularity", "context", "context_layers", "others", "verdicts")

_RENEW = (
    "milepost train CONFIG --out FOLDER; or, in that file, rename opening to bos_token and add "
    f'"schema": {SCHEMA}'
)


@dataclass(frozen=True, slots=True, config=CHECKED)
class Reading:
    """How sentences become windows of tokens.

    Attributes:
        bos_token: first token of a window; empty for none.
        own_sentence: in the last layer a landmark attends to its own sentence only.
        context: numbers of a landmark's context vector, see ``LandmarkEncoder``; 0 for none.
        context_layers, others, verdicts: see ``LandmarkEncoder``.
        granularity: what a landmark closes: a sentence, or a number of tokens.
        transformers: use the network of ``transformers`` even if Milepost has one.
        window, left, right, longest: as in the manifest; None for sizes that fit the network.
    """

    bos_token: str
    landmark: str
    own_sentence: bool = False
    context: Amount = 0
    context_layers: Count = 1
    others: Literal["", "half"] = ""
    verdicts: bool = False
    granularity: int | Literal["sentences"] = SENTENCES
    bidirectional: bool = False
    transformers: bool = False
    window: Annotated[int, Field(ge=3)] | None = None
    left: Amount | None = None
    right: Amount | None = None
    longest: Count | None = None
    query_prefix: str = ""

    def write(self, folder: Path) -> None:
        """Write ``landmark.json``."""
        usual = asdict(Reading(self.bos_token, self.landmark))
        # As in files written before these fields existed.
        said = {n: v for n, v in asdict(self).items() if n not in _LATER or v != usual[n]}
        text = json.dumps({"schema": SCHEMA, **said}, indent=1, ensure_ascii=False) + "\n"
        (folder / READING).write_text(text, encoding="utf-8")


def read_reading(folder: Path) -> Reading | None:
    """Read ``landmark.json``; None if the folder has no such file.

    Raises:
        ModelError: the file is damaged, of another schema, or holds unknown fields or sizes that
            cannot be used.
    """
    path = folder / READING
    if not path.is_file():
        return None
    hint = "correct it, or remove it to read the folder by its tokenizer's own special tokens"
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        check_schema(path, settings.pop("schema", 1), SCHEMA, _RENEW)  # schema 1 lacks the key
        return Reading(**settings)
    except ValidationError as error:
        faults = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
        raise ModelError(f"{path}: {faults}", hint) from error
    except (AttributeError, OSError, ValueError, TypeError) as error:
        raise ModelError(f"{path} cannot be read: {error}", hint) from error


BACKBONES: dict[str, type[Bert] | type[ModernBert] | type[Light]] = {
    "bert": Bert,
    "modernbert": ModernBert,
    MODEL_TYPE: Light,
}
"""Milepost's backbones; every other one is ``huggingface.HuggingFace``."""

_SHARE = -0.7
"""Log-odds at which the context's share of a score starts: a third."""

Backbone = Bert | ModernBert | Light | HuggingFace


class ContextRead(nn.Module):
    """Joins a landmark's own vector and its context's, so that their scores add up.

    ``[sqrt(1 - s) a ; sqrt(s) P b]``, with ``a`` and ``P b`` of unit length, has unit length. The
    share ``s`` comes from the own state, so question and sentence each weigh their context, and a
    dot product is ``sqrt((1 - s)(1 - s')) cos(a, a') + sqrt(s s') cos(P b, P b')``. The last
    ``layers`` of the backbone are copied; the copies attend to the whole window.
    """

    def __init__(self, backbone: Any, dimensions: int, layers: int = 1) -> None:
        super().__init__()
        width = int(backbone.width)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for layer in backbone.layers[-layers:])
        self.dimensions = dimensions
        self.project = nn.Linear(width, dimensions, bias=False)
        self.share = nn.Linear(width, 1)
        with torch.no_grad():
            # Starts as the state itself, or as a random part of its directions.
            nn.init.orthogonal_(self.project.weight)
            if dimensions == width:
                self.project.weight.copy_(torch.eye(width))
            self.share.weight.zero_()
            self.share.bias.fill_(_SHARE)

    def forward(self, own: Tensor, around: Tensor) -> Tensor:
        """``(b, m, width)`` states of both reads → ``(b, m, width + dimensions)``."""
        first = F.normalize(own.float(), dim=-1)
        second = F.normalize(self.project(around).float(), dim=-1)
        share = torch.sigmoid(self.share(own).float())
        return torch.cat(((1 - share).sqrt() * first, share.sqrt() * second), dim=-1)


class Verdicts(nn.Module):
    """See ``milepost.encoder.engine.verdict_head``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(len(VERDICTS), width) / width**0.5)
        self.bias = nn.Parameter(torch.zeros(len(VERDICTS)))

    def forward(self, vectors: Tensor) -> Tensor:
        """``(..., width)`` unit vectors → ``(..., 4)`` log-odds."""
        return SCALE * F.linear(vectors, self.weight, self.bias)

    def head(self) -> VerdictHead:
        """The same for the engine."""
        weight, bias = (each.detach().float().cpu().numpy() for each in (self.weight, self.bias))
        return VerdictHead(weight, bias)


class LandmarkEncoder(nn.Module):
    """A backbone read at its landmarks.

    ``config`` has the fields of a Hugging Face ``config.json``; its ``model_type`` names the
    backbone, unless one of ``transformers`` is given, which attends to the whole window everywhere.
    ``own_sentence`` False lets a landmark attend to the whole window in the last layer, as in the
    papers. ``read_as`` sets what else a checkpoint may have.
    """

    def __init__(
        self,
        config: dict[str, Any],
        *,
        own_sentence: bool = True,
        backbone: HuggingFace | None = None,
    ) -> None:
        super().__init__()
        kind = config["model_type"]
        self.config = config
        # A light model has no attention.
        self.own_sentence = own_sentence and backbone is None and kind != MODEL_TYPE
        self.backbone: Backbone = backbone or BACKBONES[kind](config)
        self.context: ContextRead | None = None
        self.others = ""
        self.verdicts: Verdicts | None = None
        self._kept: int | None = None

    @property
    def dimensions(self) -> int:
        """Dimensions of a vector: the backbone's width, unless the encoder is ``shortened``."""
        extra = 0 if self.context is None else self.context.dimensions
        return self._kept or int(self.backbone.width) + extra

    def shortened(self, dimensions: int) -> LandmarkEncoder:
        """Return an encoder with the same weights whose vectors are truncated and renormalised.

        Training at several widths prepares vectors for this (``losses.over_prefixes``, Kusupati et
        al., Matryoshka Representation Learning, arXiv 2205.13147).
        """
        most = self.dimensions
        if not 1 <= dimensions <= most:
            raise InputError(
                f"vectors of {most} numbers cannot be cut to {dimensions}", f"keep 1 to {most}"
            )
        made = copy.copy(self)
        if dimensions < most:
            made._kept = dimensions
        return made

    @property
    def causal(self) -> bool:
        """Whether a landmark sees only preceding tokens."""
        return isinstance(self.backbone, HuggingFace) and self.backbone.causal

    def forward(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """Compute unit vectors at the landmarks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int: ``[CLS] s1 [LMK] s2 [LMK] …``, padded with any id on the right.
            sentences: ``(b, t)`` int: number of the sentence each token belongs to, its landmark
                included; 0 for ``[CLS]``; -1 for padding.
            marks: ``(b, m)`` int: positions of the landmarks; unused entries are 0, and their
                vectors are meaningless.
        """
        marks = marks.long()
        if isinstance(self.backbone, Light):
            return self._unit(self.backbone(ids.long(), sentences, marks))
        valid = sentences >= 0
        if not self.own_sentence:
            return self._unit(self.backbone(ids.long(), valid, marks, None))
        asking = torch.gather(sentences, 1, marks)
        own = (asking[:, :, None] == sentences[:, None, :])[:, None]
        every = valid[:, None, None, :]
        if self.others == "half":
            backbone: Any = self.backbone
            heads = int(backbone.layers[-1].heads)
            free = torch.arange(heads, device=ids.device) >= heads // 2
            own = own | (free[None, :, None, None] & every)
        if self.context is None:
            return self._unit(self.backbone(ids.long(), valid, marks, own))
        states = self.backbone(ids.long(), valid, marks, own, self.context.layers)
        # Not ``split``: converted, it would keep the number of marks of the traced example.
        own_states, around = states.unflatten(1, (2, -1)).unbind(1)
        return self._unit(self.context(own_states, around))

    def read_as(self, reading: Reading) -> None:
        """Read the last layer as a checkpoint's settings say; new weights start from the old ones.

        ``context`` is the numbers of a second vector, which a landmark gets from other last layers
        (``context_layers``) that attend to the whole window, appended to its own; 0 for none.
        ``others``: "half" lets half of the last layer's heads attend to other sentences.
        ``verdicts``: the landmark of a text in front of sentences also says what these say of it.
        """
        context, layers, read = reading.context, reading.context_layers, self.context
        if (context or reading.others) and not isinstance(self.backbone, Bert | ModernBert):
            raise ModelError(
                f"{self.config['model_type']} has no last layer that is read twice",
                "leave context out",
            )
        if context and not reading.own_sentence:
            raise ModelError(
                "a context vector stands beside one of the own sentence",
                "own_sentence = true, or leave context out",
            )
        self.own_sentence = reading.own_sentence and self.config["model_type"] != MODEL_TYPE
        if reading.verdicts != (self.verdicts is not None):
            self.verdicts = Verdicts(int(self.backbone.width)) if reading.verdicts else None
        self.others = reading.others
        if (context, layers) != ((read.dimensions, len(read.layers)) if read else (0, layers)):
            self.context = ContextRead(self.backbone, context, layers) if context else None

    def recompute_activations(self) -> None:
        """Store no activations inside layers; the backward pass runs each layer again.

        Gradient checkpointing (arXiv 1604.06174): a third more computation, and the activation
        memory of one layer. Weights and gradients are the same.
        """
        kinds = BertLayer | ModernBertLayer
        layers = [layer for layer in self.backbone.modules() if isinstance(layer, kinds)]
        network = self.backbone.network if isinstance(self.backbone, HuggingFace) else None
        if not layers and not getattr(network, "supports_gradient_checkpointing", False):
            raise ModelError(
                f"layers of {self.config['model_type']} cannot run again in the backward pass",
                "leave gradient_checkpointing out",
            )
        if network is not None:
            later = getattr(network, "activation_checkpointing_enable", None)  # transformers 5
            (later or network.gradient_checkpointing_enable)({"use_reentrant": False})
            return
        for layer in layers:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)  # type: ignore[method-assign]

    def _unit(self, states: Tensor) -> Tensor:
        kept = states if self._kept is None else states[..., : self._kept]
        return F.normalize(kept.float(), dim=-1)


Ids = NDArray[np.int32]


class TorchEngine:
    """An engine that runs the torch model, in float32 and evaluation mode on its device."""

    def __init__(self, model: LandmarkEncoder) -> None:
        self._model = model.eval()

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self._model.dimensions)

    @property
    def description(self) -> str:
        """One line with engine, precision and device."""
        return f"torch, f32, {next(self._model.parameters()).device}"

    @torch.no_grad()
    def run(self, ids: Ids, sentences: Ids, marks: Ids) -> NDArray[np.float32]:
        """See ``Engine.run``."""
        device = next(self._model.parameters()).device
        feed = (torch.from_numpy(array).to(device) for array in (ids, sentences, marks))
        result: NDArray[np.float32] = self._model(*feed).cpu().numpy()
        return result
