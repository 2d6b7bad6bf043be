"""The module that sentence-transformers runs when it loads a folder written by ``interop``.

``modules.json`` names the class by its path in this package, so milepost must be installed and the
folder opened with ``trust_remote_code=True`` (sentence-transformers 6 requires that for every class
outside the library). The class implements the library's module interface without importing it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from milepost._optional import require
from milepost.engine.schema import check_schema
from milepost.errors import ModelError
from milepost_train.model.lmk_model import LmkModel, LmkSettings

CONFIG = "sentence_bert_config.json"
SCHEMA = 3
_RENEW = (
    "milepost_train.model.interop.write_folder(LMK_MODEL, FOLDER), with the weights it came from"
)
# sentence-transformers stores these in modules.json and config_sentence_transformers.json.
_ELSEWHERE = ("normalized", "query_prompt", "document_prompt")


def to_json(settings: LmkSettings) -> dict[str, Any]:
    """Convert settings to JSON."""
    fields = {key: value for key, value in asdict(settings).items() if key not in _ELSEWHERE}
    return {"milepost_schema": SCHEMA, "max_seq_length": fields.pop("limit"), **fields}


def from_json(config: dict[str, Any], source: str) -> LmkSettings:
    """Read the settings that ``to_json`` wrote.

    Raises:
        ModelError: the settings are incomplete, invalid, or of another schema.
    """
    fields = dict(config)
    check_schema(source, fields.pop("milepost_schema", None), SCHEMA, _RENEW)
    try:
        limit, bos_ids = fields.pop("max_seq_length"), tuple(fields.pop("bos_ids"))
        return LmkSettings(bos_ids=bos_ids, limit=limit, **fields)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{source} is damaged: {error}", "write the folder again") from error


class LandmarkTransformer(nn.Module):
    """Tokens with landmarks, the backbone and LMK pooling as one sentence-transformers module.

    The granularity is fixed, in train mode as well.

    Args:
        lmk: the model; the next module normalises its vectors.
    """

    save_in_root = True
    config_file_name = CONFIG
    modalities = ("text",)

    def __init__(self, lmk: LmkModel) -> None:
        super().__init__()
        settings = replace(lmk.settings, normalized=False, query_prompt="", document_prompt="")
        self.backbone = lmk.backbone
        self._lmk = LmkModel(lmk.backbone, lmk.tokenizer, settings)

    @property
    def tokenizer(self) -> Any:
        """The Hugging Face tokenizer."""
        return self._lmk.tokenizer

    @property
    def max_seq_length(self) -> int:
        """Longest row in tokens, landmarks included."""
        return self._lmk.settings.limit

    @max_seq_length.setter
    def max_seq_length(self, limit: int) -> None:
        lmk = self._lmk
        self._lmk = LmkModel(lmk.backbone, lmk.tokenizer, replace(lmk.settings, limit=limit))

    def get_embedding_dimension(self) -> int:
        """Width of the vectors."""
        width: int = self.backbone.config.hidden_size
        return width

    def preprocess(
        self, inputs: Sequence[str], prompt: str | None = None, **_: Any
    ) -> dict[str, Tensor]:
        """Tokenize texts to ``input_ids``, ``attention_mask`` and ``landmark_mask``."""
        padded = self._lmk.padded([(prompt or "") + text for text in inputs])
        return {
            "input_ids": torch.from_numpy(padded.ids),
            "attention_mask": torch.from_numpy(padded.mask).long(),
            "landmark_mask": torch.from_numpy(padded.landmarks),
        }

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add ``token_embeddings`` and ``sentence_embedding``."""
        mask = features["attention_mask"].bool()
        states = self._lmk.states(features["input_ids"], mask)
        features["token_embeddings"] = states
        features["sentence_embedding"] = self._lmk.pooled(states, mask, features["landmark_mask"])
        return features

    def save(self, output_path: str, *_: Any, safe_serialization: bool = True, **__: Any) -> None:
        """Write weights, tokenizer and settings; always as safetensors."""
        folder = Path(output_path)
        self.backbone.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        text = json.dumps(to_json(self._lmk.settings), indent=1) + "\n"
        (folder / CONFIG).write_text(text, encoding="utf-8")

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        model_kwargs: dict[str, Any] | None = None,
        **_: Any,
    ) -> LandmarkTransformer:
        """Load what ``save`` wrote, from a folder or by the model's name on the hub."""
        transformers = require("transformers", extra="train")
        where: dict[str, Any] = {
            "token": token,
            "cache_dir": cache_folder,
            "revision": revision,
            "local_files_only": local_files_only,
            "subfolder": subfolder,
        }
        config = transformers.utils.cached_file(model_name_or_path, CONFIG, **where)
        settings = from_json(json.loads(Path(config).read_text(encoding="utf-8")), str(config))
        kwargs = {"use_safetensors": True, **(model_kwargs or {})}
        backbone = transformers.AutoModel.from_pretrained(model_name_or_path, **where, **kwargs)
        if not {"dtype", "torch_dtype"} & set(kwargs):
            backbone = backbone.float()
        tokenizer = transformers.AutoTokenizer.from_pretrained(model_name_or_path, **where)
        return cls(LmkModel(backbone, tokenizer, settings))
