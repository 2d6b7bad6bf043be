"""Tiny random models of transformers with tokenizers trained on the spot, as folders."""

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

TEXT = (
    "The survey ship left Bergen in May. Ice kept it from the coast for three weeks! "
    "Who had paid for the voyage? The town lent 2,400 crowns – the museum bought the notebook. "
    "Dr. Lund wrote: “We owe them an apology.” Nobody answered her letter, naïve as it was. "
    "Later a second ship, the Aase, took the same way and found the harbour open. "
)
"""A text of eight or so sentences with marks and letters beyond ASCII."""

KINDS = ("bert", "modernbert", "xlm-roberta", "llama", "mistral", "qwen2", "qwen3")
CAUSAL = ("llama", "mistral", "qwen2", "qwen3")
_FAMILY = {"bert": "wordpiece", "modernbert": "bytes", "xlm-roberta": "unigram"}
_SPECIALS = {
    "wordpiece": {
        "unk_token": "[UNK]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
    },
    "unigram": {
        "cls_token": "<s>",
        "bos_token": "<s>",
        "pad_token": "<pad>",
        "sep_token": "</s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    },
    "metaspace": {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    "bytes": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
}


def family(kind: str) -> str:
    """Which kind of tokenizer an architecture has: sentencepiece-like BPE or bytes for decoders."""
    return _FAMILY.get(kind, "bytes" if kind.startswith("qwen") else "metaspace")


def tiny_tokenizer(name: str) -> Any:
    """A tokenizer of 300 entries: ``wordpiece``, ``unigram``, ``metaspace`` (BPE) or ``bytes``."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    specials = list(dict.fromkeys(_SPECIALS[name].values()))
    settings: dict[str, Any] = {"vocab_size": 300, "special_tokens": specials}
    settings["show_progress"] = False
    if name == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer: Any = trainers.WordPieceTrainer(**settings)
    elif name == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(unk_token="<unk>", **settings)
    elif name == "metaspace":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=False))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.BpeTrainer(**settings)
    else:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(initial_alphabet=alphabet, **settings)
    tokenizer.train_from_iterator([TEXT], trainer)
    return tokenizer


def tiny_network(kind: str, vocabulary: int = 300, *, seed: int = 3, **changes: Any) -> Any:
    """A network of ``AutoModel`` with random weights large enough to make states differ."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    settings: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 256,
        "pad_token_id": None if kind in CAUSAL else 1,
        "bos_token_id": None,
        "eos_token_id": None,
        "attn_implementation": "eager",
    }
    if kind in CAUSAL:
        settings |= {"num_key_value_heads": 2, "head_dim": 8}
    if kind == "mistral":
        settings["sliding_window"] = 24
    if kind == "modernbert":
        settings |= {"local_attention": 16, "global_attn_every_n_layers": 2}
        settings |= {"cls_token_id": None, "sep_token_id": None}
    settings |= changes
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers' own deprecations
        network = AutoModel.from_config(CONFIG_MAPPING[kind](**settings))
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.6 if "embed" in name else 0.25)
    return network.eval()


def tiny_folder(folder: Path, kind: str, **changes: Any) -> Path:
    """A Hugging Face folder: config, weights, tokenizer and the names of its special tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in _files(kind, json.dumps(changes, sort_keys=True)).items():
        (folder / name).write_bytes(data)
    return folder


@cache
def _files(kind: str, changes: str) -> dict[str, bytes]:
    """What ``save_pretrained`` writes, which takes it a second."""
    tokenizer = tiny_tokenizer(family(kind))
    specials = _SPECIALS[family(kind)]
    pad = specials.get("pad_token")
    settings = {"pad_token_id": pad and tokenizer.token_to_id(pad), **json.loads(changes)}
    network = tiny_network(kind, tokenizer.get_vocab_size(), **settings)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.save_pretrained(name)
        files = {file.name: file.read_bytes() for file in Path(name).iterdir()}
    files["tokenizer.json"] = tokenizer.to_str(pretty=True).encode()
    files["tokenizer_config.json"] = json.dumps(specials).encode()
    return files
