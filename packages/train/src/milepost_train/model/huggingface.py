"""Any encoder or causal language model of ``transformers`` as a backbone.

``bert.py`` and ``modernbert.py`` are separate implementations, because the shipped model needs a
last layer that computes only landmarks. This backbone runs any network that ``AutoModel`` builds,
with the network's own attention in every layer, as in the papers. A decoder is read causally: a
landmark at the end of its sentence sees that sentence and the text before it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from milepost.errors import ModelError, first_line
from milepost_eval.embedders.sentence_transformer import no_bars
from milepost_train.model.attention import bias_of, gather_rows

ATTENTION = "eager"
"""The attention that is exported: OpenVINO converts its masks correctly for every architecture,
while the fused one, correct in torch, gives NaN with a sliding window."""

_ENDLESS = 2048  # maximum tokens of a window if the network has no limit (ALiBi)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence progress bars and log messages of ``transformers``; problems raise exceptions."""
    with no_bars(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def load_network(folder: Path, **options: Any) -> Any:
    """A network of ``transformers`` without head, from a folder; nothing is unpickled.

    ``options`` are those of ``from_pretrained``; weights are float32 if they say nothing else.
    """
    from transformers import AutoModel

    options = {"dtype": torch.float32, **options, "use_safetensors": True, "local_files_only": True}
    hint = "a checkpoint with config.json, model.safetensors and tokenizer.json"
    try:
        with quiet():
            network, report = AutoModel.from_pretrained(
                str(folder), output_loading_info=True, **options
            )
    except Exception as error:  # transformers raises OSError, ValueError and others
        raise ModelError(f"{folder} cannot be read: {first_line(error)}", hint) from error
    # transformers initialises missing weights at random. Poolers are not used.
    missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    if missing:
        raise ModelError(f"{folder} lacks {missing[0]}", hint)
    return network


class HuggingFace(nn.Module):
    """A network of ``transformers`` that is read at landmarks.

    ``bidirectional`` lets every token of a causal network see both sides (as LLM2Vec, arXiv
    2404.05961, does; the network has to be trained for it).

    Attributes:
        network: from ``AutoModel``, without head; wrapped with LoRA after ``with_lora``.
        causal: whether a token sees only preceding tokens; determined by a gradient, so that no
            list of architectures is needed.
        max_tokens: length of the longest window that the network has positions for.
        width: width of its states.
    """

    def __init__(self, network: Any, *, bidirectional: bool = False) -> None:
        super().__init__()
        config = network.config
        if getattr(config, "is_encoder_decoder", False):
            raise ModelError(
                f"{config.model_type} is an encoder with a decoder, without one state per token",
                "use an encoder (BERT, ModernBERT, XLM-R …) or a decoder (LLaMA, Mistral, Qwen …)",
            )
        if isinstance(getattr(network, "pooler", None), nn.Module):
            network.pooler = None  # unused, because only landmarks are read
        config.use_cache = False
        self.network = network
        self.bidirectional = bidirectional
        self.first = _first_position(network)
        self.width: int = config.hidden_size
        self.max_tokens: int = max_tokens(network) or _ENDLESS
        self._takes_positions = "position_ids" in inspect.signature(network.forward).parameters
        self.causal = not bidirectional and _is_causal(self)

    @property
    def config(self) -> dict[str, Any]:
        """The fields of its ``config.json``."""
        fields: dict[str, Any] = self.network.config.to_dict()
        return fields

    @property
    def identity(self) -> dict[str, Any]:
        """The fields of the config that affect states, without its origin and dtype."""
        passing = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
        return {key: value for key, value in self.config.items() if key not in passing}

    def forward(self, ids: Tensor, valid: Tensor, marks: Tensor, own: Tensor | None) -> Tensor:
        """Return states at the marks, ``(b, m, d)``; see ``Bert.forward``. ``own`` must be None."""
        return gather_rows(self._states({"input_ids": ids}, valid), marks)

    def _states(self, content: dict[str, Tensor], valid: Tensor) -> Tensor:
        """Run the network. Masks come from ``valid`` and positions from indices, never from ids."""
        batch, length = valid.shape
        settings: dict[str, Tensor] = {"attention_mask": valid.long()}
        if self.bidirectional:
            everyone = valid[:, None, None, :].expand(batch, 1, length, length)
            # transformers uses four-dimensional masks unchanged.
            settings["attention_mask"] = bias_of(everyone, self.network.dtype)
        if self.first and self._takes_positions:
            # Without this, the RoBERTa family counts ids other than the pad token.
            places = torch.arange(length, device=valid.device) + self.first
            settings["position_ids"] = places[None].expand(batch, length)
        states: Tensor = self.network(**content, **settings).last_hidden_state
        # Weights may be bfloat16; under autocast, whose weights are float32, its dtype stays.
        return states if torch.is_autocast_enabled(states.device.type) else states.float()

    def for_export(self) -> None:
        """Switch to the attention that converts correctly; states change only by rounding."""
        if self.network.config._attn_implementation != ATTENTION:
            self.network.set_attn_implementation(ATTENTION)

    def forget_pad(self) -> None:
        """Remove the pad token, which is the landmark: embeddings of pad tokens are not trained."""
        self.network.config.pad_token_id = None
        for module in self.network.modules():
            if isinstance(module, nn.Embedding):
                module.padding_idx = None


def max_tokens(network: Any) -> int | None:
    """Tokens that a network of ``transformers`` has positions for; None if it has no limit."""
    most: int | None = getattr(network.config, "max_position_embeddings", None)
    return most - _first_position(network) if most and most > 0 else None


def _first_position(network: Any) -> int:
    """Position of a window's first token: RoBERTa, XLM-R and MPNet start after the pad id."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0


def _is_causal(backbone: HuggingFace) -> bool:
    """Whether the gradient of the first state with respect to the last token is exactly zero."""
    training = backbone.network.training
    backbone.eval()
    table = backbone.network.get_input_embeddings().weight
    spread = torch.Generator().manual_seed(0)
    content = torch.randn(1, 4, table.shape[1], generator=spread)
    weights = torch.randn(backbone.width, generator=spread)
    content = content.to(table).requires_grad_()
    with torch.enable_grad():
        valid = torch.ones(1, 4, dtype=torch.bool, device=table.device)
        first = backbone._states({"inputs_embeds": content}, valid)[0, 0]
        (gradient,) = torch.autograd.grad((first * weights.to(first)).sum(), content)
    backbone.train(training)
    return not bool(gradient[0, -1].any())
