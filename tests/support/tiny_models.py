"""Tiny models with random weights in the folders that other libraries write and read."""

import json
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."]
VOCABULARY += ["the", "a", "cat", "dog", "bird", "whale", "sat", "swam", "on", "in", "mat"]
VOCABULARY += ["tree", "sea", "sings", "it", "was", "old", "and", "far"]
VOCABULARY += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
VOCABULARY += list("abcdefghijklmnopqrstuvwxyz")[1:]

TEXT = "The cat sat on the mat. It was old. A whale swam far in the sea and sings. The dog sat."


def tokenizer() -> Any:
    """A BERT tokenizer of a few words and all letters, special tokens included."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = list(dict.fromkeys(VOCABULARY))
    made = Tokenizer(models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )


def _config(**more: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(set(VOCABULARY)),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.4,
        **more,
    )


def sentence_transformer(
    folder: Path,
    *,
    prompts: dict[str, str] | None = None,
    dense: bool = False,
    roberta: bool = False,
) -> Path:
    """A sentence-transformers folder: BERT that reads 32 tokens of 64 positions, mean pooling.

    Its settings are written by hand, in the form that every version of the library reads.
    """
    import torch
    from safetensors.numpy import save_file
    from transformers import BertModel, RobertaConfig, RobertaModel

    torch.manual_seed(3)
    fields = _config().to_dict()
    fields.pop("model_type")
    network = RobertaModel(RobertaConfig(**fields)) if roberta else BertModel(_config())
    network.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    modules = ["", "1_Pooling", "2_Dense"] if dense else ["", "1_Pooling"]
    kinds = ["Transformer", "Pooling", "Dense"]
    _write(
        folder / "modules.json",
        [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (path, kind) in enumerate(zip(modules, kinds, strict=False))
        ],
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts or {}})
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    _write(folder / "1_Pooling" / "config.json", pooling)
    if dense:
        name = "torch.nn.modules.activation.Tanh"
        settings = {
            "in_features": 16,
            "out_features": 8,
            "bias": False,
            "activation_function": name,
        }
        _write(folder / "2_Dense" / "config.json", settings)
        weight = np.random.default_rng(6).standard_normal((8, 16)).astype(np.float32)
        save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    return folder


def _write(path: Path, fields: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(fields), encoding="utf-8")


def model2vec(folder: Path) -> np.ndarray:
    """A model2vec folder; returns its table of token vectors."""
    from model2vec import StaticModel

    backend = tokenizer().backend_tokenizer
    table = np.random.default_rng(5).standard_normal((backend.get_vocab_size(), 8))
    StaticModel(table.astype(np.float32), backend, normalize=False).save_pretrained(folder)
    return table.astype(np.float32)
