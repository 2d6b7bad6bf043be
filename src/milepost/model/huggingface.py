"""Any encoder or causal language model of ``transformers`` as a backbone.

Beside ``bert.py`` and ``modernbert.py``, which are written by hand because the shipped model needs
a last layer that stops at landmarks, this one runs whatever ``AutoModel`` builds, with the model's
own attention in every layer, as in the papers. A decoder is read causally: a landmark is at
the end of its sentence and sees that sentence and what came before it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from milepost.errors import ModelError
from milepost.model.attention import bias_of, gather_rows

ATTENTION = "eager"
"""The attention that is exported: OpenVINO reads its masks right for every architecture, while the
fused one, right in torch, comes out as NaN under a sliding window."""

_ENDLESS = 2048  # tokens of a window where the network has no longest text of its own (ALiBi)


@contextmanager
def quiet() -> Iterator[None]:
    """While this lasts, ``transformers`` draws no bars and remarks nothing about its own settings.

    What is wrong with a model it raises, or is looked for here.
    """
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


class HuggingFace(nn.Module):
    """A network of ``transformers`` that is read at landmarks.

    Args:
        network: what ``AutoModel`` made, without head.
        bidirectional: let every token of a causal network see both sides (as LLM2Vec,
            arXiv 2404.05961, does; the network has to be trained for it).

    Attributes:
        network: the same, with LoRA around it where ``with_lora`` put it.
        causal: whether a token sees only what precedes it; found by a derivative, so that it
            needs no list of architectures.
        max_tokens: longest window the network has positions for.
        width: of its states.

    Raises:
        ModelError: the network decodes what another part encoded, such as T5.
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
            network.pooler = None  # reads the first token; landmarks are what is read here
        config.use_cache = False
        self.network = network
        self.bidirectional = bidirectional
        self.first = _first_position(network)
        self.width: int = config.hidden_size
        longest = getattr(config, "max_position_embeddings", None) or _ENDLESS + self.first
        self.max_tokens: int = longest - self.first
        self._takes_positions = "position_ids" in inspect.signature(network.forward).parameters
        self.causal = not bidirectional and _is_causal(self)

    @property
    def config(self) -> dict[str, Any]:
        """The fields of its ``config.json``."""
        fields: dict[str, Any] = self.network.config.to_dict()
        return fields

    @property
    def identity(self) -> dict[str, Any]:
        """The fields of the config that change states; not where it came from, nor by what."""
        passing = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
        return {key: value for key, value in self.config.items() if key not in passing}

    def forward(self, ids: Tensor, valid: Tensor, marks: Tensor, own: Tensor | None) -> Tensor:
        """States at the marks, ``(b, m, d)``; arguments as ``Bert.forward``, ``own`` None."""
        if own is not None:
            raise ValueError("a network of transformers attends to the whole window everywhere")
        return gather_rows(self._states({"input_ids": ids}, valid), marks)

    def layers(self, ids: Tensor, valid: Tensor) -> Tensor:
        """States behind every layer, ``(b, t, layers, d)``; the embeddings are left out.

        As ``transformers`` has it, the last are behind the final norm and the others before theirs.

        Args:
            ids: ``(b, t)`` int64, padded with any id.
            valid: ``(b, t)`` bool: which places hold a token.
        """
        found = self._run({"input_ids": ids}, valid, output_hidden_states=True)
        return torch.stack(found.hidden_states[1:], 2)

    def _states(self, content: dict[str, Tensor], valid: Tensor) -> Tensor:
        """``(b, t, d)`` of the last layer."""
        states: Tensor = self._run(content, valid).last_hidden_state
        # Of weights in bfloat16; autocast, which leaves weights in float32, keeps its own dtype.
        return states if torch.is_autocast_enabled(states.device.type) else states.float()

    def _run(self, content: dict[str, Tensor], valid: Tensor, **wanted: bool) -> Any:
        """What the network gives. Masks come from ``valid``, positions from places, never ids."""
        batch, length = valid.shape
        settings: dict[str, Tensor] = {"attention_mask": valid.long()}
        if self.bidirectional:
            everyone = valid[:, None, None, :].expand(batch, 1, length, length)
            # Masks of four dimensions are taken by transformers as they are.
            settings["attention_mask"] = bias_of(everyone, self.network.dtype)
        if self.first and self._takes_positions:
            # Left to itself, RoBERTa's family counts the ids that are not the pad token.
            places = torch.arange(length, device=valid.device) + self.first
            settings["position_ids"] = places[None].expand(batch, length)
        return self.network(**content, **settings, **wanted)

    def for_export(self) -> None:
        """Choose the attention that converts well; states change by rounding alone."""
        if self.network.config._attn_implementation != ATTENTION:
            self.network.set_attn_implementation(ATTENTION)

    def forget_pad(self) -> None:
        """Take away the pad token, whose embedding is never trained: it is the landmark."""
        self.network.config.pad_token_id = None
        for module in self.network.modules():
            if isinstance(module, nn.Embedding):
                module.padding_idx = None


def _first_position(network: Any) -> int:
    """Position of a window's first token: RoBERTa, XLM-R and MPNet leave out pad and below."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0


def _is_causal(backbone: HuggingFace) -> bool:
    """Whether the first state does not depend on the last token: an exact zero of its gradient."""
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
