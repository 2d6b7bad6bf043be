"""A Hugging Face encoder with LMK pooling, as a module of sentence-transformers.

LMK pooling (Doshi et al., arXiv 2601.21525) cuts the content of a text into pieces of ``g`` tokens
or of one sentence, closes every piece by a landmark, including a shorter last one, and averages the
landmarks' states. With BOS token 1, landmark 2 and ``g = 3``:

    content   11 12 13 14 15 16 17
    row       1 11 12 13 2 14 15 16 2 17 2        landmarks at 4, 8, 10

Landmarks are identified by position and padding by lengths, so that a separator in the text can
neither be mistaken for a landmark nor hide one.

The class is the module that sentence-transformers runs when it loads a folder written by
``interop``: ``modules.json`` names it by its path in this package, so milepost must be installed
and the folder opened with ``trust_remote_code=True``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import InputModule, Normalize
from torch import Tensor

from milepost.documents.sentences import split
from milepost.encoder.engine.manifest import SENTENCES
from milepost.errors import ModelError, first_line
from milepost_train.model.huggingface import load_network, max_tokens
from milepost_train.model.layouts import CONFIG, SCHEMA, LmkSettings, from_json

# sentence-transformers stores these in modules.json and config_sentence_transformers.json.
_ELSEWHERE = ("normalized", "query_prompt", "document_prompt")


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids of one text, and the positions of its landmarks."""

    ids: list[int]
    landmarks: list[int]


def chunks(content: Sequence[int], granularity: int) -> list[Sequence[int]]:
    """Cut content into pieces of ``granularity`` tokens; the last may be shorter.

    >>> chunks([11, 12, 13, 14], 3)
    [[11, 12, 13], [14]]
    """
    return [content[at : at + granularity] for at in range(0, len(content), granularity)]


def insert(
    pieces: Sequence[Sequence[int]], *, bos_ids: Sequence[int], landmark: int, limit: int
) -> Row:
    """Build a row: opening tokens, then every piece followed by its landmark.

    Content is cut first, so that the last landmark fits and closes every token that is read, and
    the row has at most ``limit`` tokens. Empty pieces are left out; without pieces the row is
    ``bos_ids`` and one landmark.
    """
    ids, landmarks = list(bos_ids), list[int]()
    for piece in [piece for piece in pieces if len(piece)] or [()]:
        room = limit - len(ids) - 1
        if landmarks and room < 1:
            break
        ids.extend(piece[:room])
        landmarks.append(len(ids))
        ids.append(landmark)
    return Row(ids, landmarks)


def pad(rows: Sequence[Row], padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, padded with any id: ``(b, t)`` int64 ids, bool masks of tokens and of landmarks."""
    shape = len(rows), max((len(row.ids) for row in rows), default=0)
    ids = torch.full(shape, padding)
    mask, landmarks = torch.zeros(2, *shape, dtype=torch.bool)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = torch.tensor(row.ids)
        mask[number, : len(row.ids)] = True
        landmarks[number, row.landmarks] = True
    return ids, mask, landmarks


def pool(
    states: Tensor, mask: Tensor, landmarks: Tensor, *, unit_landmarks: bool = False
) -> Tensor:
    """Average the landmarks' states ``(b, t, d)``: ``(b, d)`` float32.

    ``mask`` and ``landmarks`` are ``(b, t)`` bool. A row without landmarks gives the mean of all
    its tokens. For ``unit_landmarks`` see ``LmkSettings``.
    """
    # States of padding are arbitrary and may be NaN, which a product with 0 would not remove.
    kept = states.float().masked_fill(~mask.unsqueeze(-1), 0.0)
    if unit_landmarks:
        kept = F.normalize(kept, dim=-1)
    chosen = torch.where(landmarks.any(dim=1, keepdim=True), landmarks, mask).to(kept)
    return torch.einsum("btd,bt->bd", kept, chosen) / chosen.sum(dim=1, keepdim=True).clamp(min=1)


class LandmarkTransformer(InputModule):
    """Weights, tokenizer and settings together.

    As a module of sentence-transformers it gives the plain mean: prompts and the scaling to unit
    length are the library's.
    """

    save_in_root = True
    config_file_name = CONFIG

    def __init__(self, backbone: Any, tokenizer: Any, settings: LmkSettings) -> None:
        super().__init__()
        if tokenizer.pad_token_id == settings.landmark:
            # Harmless with Milepost's masks, but not with those of training and other programs.
            raise ModelError(
                f"padding and landmark are the same token {tokenizer.pad_token!r}, so that masks "
                "made from ids hide every landmark",
                "give the tokenizer a padding token of its own",
            )
        most = max_tokens(backbone)
        if most is not None and settings.limit > most:
            raise ModelError(
                f"rows of {settings.limit} tokens, but the model takes {most}", "lower the limit"
            )
        self.backbone, self.settings = backbone.eval(), settings
        self.tokenizer: Any = tokenizer
        # RoBERTa derives positions from its own padding id, so no other id works.
        known = (tokenizer.pad_token_id, getattr(backbone.config, "pad_token_id", None), 0)
        self._padding = next(int(each) for each in known if each is not None)

    @property
    def max_seq_length(self) -> int:
        """Longest row in tokens, landmarks included."""
        return self.settings.limit

    @max_seq_length.setter
    def max_seq_length(self, limit: int) -> None:
        self.settings = replace(self.settings, limit=limit)

    def get_embedding_dimension(self) -> int:
        """Width of the vectors."""
        width: int = self.backbone.config.hidden_size
        return width

    def rows(self, texts: Sequence[str]) -> list[Row]:
        """Tokenize each text and insert landmarks, in train mode as in eval mode."""
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

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_: Any
    ) -> dict[str, Tensor]:
        """Tokenize texts to ``input_ids``, ``attention_mask`` and ``landmark_mask``."""
        rows = self.rows([(prompt or "") + text for text in inputs])
        ids, mask, landmarks = pad(rows, self._padding)
        return {"input_ids": ids, "attention_mask": mask.long(), "landmark_mask": landmarks}

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add ``token_embeddings`` and ``sentence_embedding``, ``(b, d)`` float32."""
        mask = features["attention_mask"]
        output = self.backbone(input_ids=features["input_ids"], attention_mask=mask)
        states: Tensor = output.last_hidden_state
        features["token_embeddings"] = states
        features["sentence_embedding"] = pool(
            states,
            mask.bool(),
            features["landmark_mask"],
            unit_landmarks=self.settings.unit_landmarks,
        )
        return features

    def model(self) -> SentenceTransformer:
        """The module with prompts and normalisation, as sentence-transformers runs it."""
        s = self.settings
        return SentenceTransformer(
            modules=[self, *([Normalize()] if s.normalized else [])],
            prompts={"query": s.query_prompt, "document": s.document_prompt},
            device=str(next(self.backbone.parameters()).device),
            similarity_fn_name="cosine",
        )

    def get_config_dict(self) -> dict[str, Any]:
        """The settings, as ``load`` reads them."""
        fields = asdict(self.settings)
        kept = {key: value for key, value in fields.items() if key not in (*_ELSEWHERE, "limit")}
        return {"milepost_schema": SCHEMA, "max_seq_length": self.settings.limit, **kept}

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write weights, tokenizer and settings; always as safetensors."""
        self.backbone.save_pretrained(output_path)
        self.save_tokenizer(output_path)
        self.save_config(output_path)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> LandmarkTransformer:
        """Load what ``save`` wrote, from a folder or by the model's name on the hub."""
        where = model_name_or_path, subfolder, token, cache_folder, revision, local_files_only
        folder = cls.load_dir_path(*where) or model_name_or_path
        settings = from_json(cls.load_config(folder), str(Path(folder, CONFIG)))
        options = kwargs.get("model_kwargs") or {}
        return cls(*open_network(Path(folder), **options), settings)


def open_network(folder: Path, **options: Any) -> tuple[Any, Any]:
    """An encoder of transformers and its tokenizer in a folder; see ``load_network``."""
    from transformers import AutoTokenizer

    network = load_network(folder, **options)
    try:
        return network, AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # the library raises all kinds
        problem = f"{folder} has no tokenizer that can be read: {first_line(error)}"
        raise ModelError(problem, "fetch the folder again") from error
