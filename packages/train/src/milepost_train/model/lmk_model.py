"""A Hugging Face encoder with LMK pooling: texts in, one vector per text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.engine.manifest import SENTENCES, Granularity
from milepost.errors import InputError, ModelError
from milepost.text.sentences import split
from milepost_train.model.lmk import Padded, Row, chunks, insert, pad, pool


@dataclass(frozen=True, slots=True)
class LmkSettings:
    """The settings that determine a document's vector, besides weights and tokenizer.

    Attributes:
        bos_ids: ids that begin a row, usually ``[CLS]``.
        landmark: id of the landmark token.
        granularity: tokens per landmark, or ``"sentences"``, for evaluation.
        limit: longest row in tokens.
        longest: with ``"sentences"``, maximum tokens per landmark: longer sentences are cut and get
            several; 0 for no maximum.
        unit_landmarks: scale landmarks to unit length before the mean, as Milepost's training does.
        normalized: scale vectors to unit length.
        query_prompt: prefix of queries.
        document_prompt: prefix of documents.
    """

    bos_ids: tuple[int, ...]
    landmark: int
    granularity: Granularity
    limit: int
    longest: int = 0
    unit_landmarks: bool = False
    normalized: bool = True
    query_prompt: str = ""
    document_prompt: str = ""

    def __post_init__(self) -> None:
        whole = isinstance(self.granularity, int) and not isinstance(self.granularity, bool)
        if self.granularity != SENTENCES and not (whole and int(self.granularity) > 0):
            raise ModelError(
                f"{self.granularity!r} is not a granularity", 'use a positive number or "sentences"'
            )
        if not isinstance(self.limit, int) or self.limit < len(self.bos_ids) + 1:
            raise ModelError(f"a limit of {self.limit!r} tokens has no room for a landmark")


class LmkModel:
    """Weights, tokenizer and settings together.

    Args:
        backbone: a model from ``transformers.AutoModel``; set to eval mode.
        tokenizer: a tokenizer from ``transformers.AutoTokenizer``.
        settings: how rows are made and pooled.

    Raises:
        ModelError: padding and landmark are the same token, or rows exceed the model's maximum.
    """

    def __init__(self, backbone: Any, tokenizer: Any, settings: LmkSettings) -> None:
        if tokenizer.pad_token_id == settings.landmark:
            # Harmless with Milepost's masks, but not with those of training and other programs.
            raise ModelError(
                f"padding and landmark are the same token {tokenizer.pad_token!r}, so that masks "
                "made from ids hide every landmark",
                "give the tokenizer a padding token of its own",
            )
        most = max_tokens(backbone.config)
        if most is not None and settings.limit > most:
            raise ModelError(
                f"rows of {settings.limit} tokens, but the model takes {most}", "lower the limit"
            )
        self.backbone = backbone.eval()
        self.tokenizer = tokenizer
        self.settings = settings
        # RoBERTa derives positions from its own padding id, so no other id works.
        known = (tokenizer.pad_token_id, getattr(backbone.config, "pad_token_id", None), 0)
        self._padding = next(int(each) for each in known if each is not None)

    def rows(self, texts: Sequence[str]) -> list[Row]:
        """Tokenize each text and insert landmarks, always at the fixed granularity."""
        s = self.settings
        if s.granularity == SENTENCES:
            pieces = [self._sentences(text) for text in texts]
        else:
            pieces = [chunks(ids, s.granularity) for ids in self._contents(list(texts))]
        return [
            insert(each, bos_ids=s.bos_ids, landmark=s.landmark, limit=s.limit) for each in pieces
        ]

    def _contents(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        # verbose=False: rows are cut later, so a warning about long input would be misleading.
        found = self.tokenizer(texts, add_special_tokens=False, verbose=False)
        contents: list[list[int]] = found["input_ids"]
        return contents

    def _sentences(self, text: str) -> list[Sequence[int]]:
        sentences = self._contents([text[a:b] for a, b in split(text)])
        if not self.settings.longest:
            return list(sentences)
        return [part for ids in sentences for part in chunks(ids, self.settings.longest)]

    def padded(self, texts: Sequence[str]) -> Padded:
        """Tokenize texts to one padded batch."""
        return pad(self.rows(texts), self._padding)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Compute last states ``(b, t, d)``; positions and token types are the model's defaults."""
        output = self.backbone(input_ids=ids, attention_mask=mask.to(torch.long))
        states: Tensor = output.last_hidden_state
        return states

    def pooled(self, states: Tensor, mask: Tensor, landmarks: Tensor) -> Tensor:
        """Pool states to vectors ``(b, d)`` float32; see ``milepost_train.model.lmk.pool``."""
        return pool(
            states,
            mask,
            landmarks,
            normalized=self.settings.normalized,
            unit_landmarks=self.settings.unit_landmarks,
        )

    def encode_documents(self, texts: Sequence[str], *, batch: int = 16) -> NDArray[np.float32]:
        """Encode documents, ``(n, d)``; text beyond ``settings.limit`` tokens is not read."""
        return self._encode(texts, self.settings.document_prompt, batch)

    def encode_queries(self, texts: Sequence[str], *, batch: int = 64) -> NDArray[np.float32]:
        """Encode queries, ``(n, d)``, by the same rule as documents."""
        return self._encode(texts, self.settings.query_prompt, batch)

    def _encode(self, texts: Sequence[str], prompt: str, batch: int) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise InputError("the texts are one string", "pass a list of texts")
        device = next(self.backbone.parameters()).device
        result = np.zeros((len(texts), self.backbone.config.hidden_size), np.float32)
        order = np.argsort([len(text) for text in texts], kind="stable")
        for at in range(0, len(texts), batch):
            chosen = order[at : at + batch]
            padded = self.padded([prompt + texts[n] for n in chosen])
            ids, mask, landmarks = (
                torch.from_numpy(each).to(device)
                for each in (padded.ids, padded.mask, padded.landmarks)
            )
            with torch.no_grad():
                vectors = self.pooled(self.states(ids, mask), mask, landmarks)
            result[chosen] = vectors.cpu().numpy()
        return result


def max_tokens(config: Any) -> int | None:
    """Return the longest row in tokens by a Hugging Face config; None if unknown."""
    most: int | None = getattr(config, "max_position_embeddings", None)
    if most is None or most < 1:
        return None
    if config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        # Their positions start after the padding token's id.
        most -= (config.pad_token_id or 0) + 1
    return most
