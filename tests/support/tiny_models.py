"""Tiny models with random weights, made on the spot: no download, no stored weights.

Those of words (``write_checkpoint``, ``encoder``, ``sentence_transformer``) share one vocabulary of
200 word pieces; ``tiny_folder`` has a tokenizer of its architecture, trained on ``TEXT``.
"""

import json
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_SIZES = {
    "vocab_size": 200,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "max_position_embeddings": 512,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "bert": {
        **_SIZES,
        "model_type": "bert",
        "num_hidden_layers": 3,
        "intermediate_size": 64,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
    },
    "modernbert": {
        **_SIZES,
        "model_type": "modernbert",
        "num_hidden_layers": 4,
        "intermediate_size": 48,
        "norm_eps": 1e-5,
        "global_attn_every_n_layers": 3,
        "local_attention": 16,
        "global_rope_theta": 160000.0,
        "local_rope_theta": 10000.0,
    },
}
LIGHT_CONFIG: dict[str, Any] = {
    "model_type": "milepost_light",
    "vocab_size": 200,
    "table_width": 12,
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "reach": 2,
    "max_position_embeddings": 512,
}
PAD, CLS, SEP = 0, 2, 3
"""Ids of special tokens among the word pieces."""

TEXT = (
    "The survey ship left Bergen in May. Ice kept it from the coast for three weeks! "
    "Who had paid for the voyage? The town lent 2,400 crowns – the museum bought the notebook. "
    "Dr. Lund wrote: “We owe them an apology.” Nobody answered her letter, naïve as it was. "
    "Later a second ship, the Aase, took the same way and found the harbour open. "
)
"""A text of eight or so sentences with marks and letters beyond ASCII."""

WORDS = "The cat sat on the mat. The dog sat. A bird sat on the tree. The river, the house."
"""A text of words that the word pieces have."""

TEXTS = [
    "the cat sat on the mat. the dog sat on the tree. a bird, a river; a house!",
    "dog",
    "",
    "the river [SEP] the house",
    "word60 word61 " * 40,
]
"""Texts of the word pieces, one empty, one with a special token written out, one long."""

KINDS = ("bert", "modernbert", "xlm-roberta", "mpnet", "llama", "mistral", "qwen2", "qwen3")
CAUSAL = ("llama", "mistral", "qwen2", "qwen3")
_FAMILY = {
    "bert": "wordpiece",
    "mpnet": "wordpiece",
    "modernbert": "bytes",
    "xlm-roberta": "unigram",
}
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


def randomised(network: Any) -> Any:
    """The network with weights that are large enough to make states differ."""
    import torch

    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.6 if "embed" in name else 0.25)
    return network.eval()


def random_model(
    kind: str, *, own_sentence: bool = True, verdicts: bool = False, seed: int = 5
) -> Any:
    """A ``LandmarkEncoder``."""
    import torch

    from milepost_train.model import LandmarkEncoder
    from milepost_train.model.landmark_encoder import Reading

    torch.manual_seed(seed)
    model = LandmarkEncoder(CONFIGS[kind], own_sentence=own_sentence)
    model.read_as(Reading("", "", own_sentence=own_sentence, verdicts=verdicts))
    return randomised(model)


def write_tokenizer(path: Path) -> Path:
    """A WordPiece tokenizer of 200 entries: special tokens, letters and a few words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?-()[]'\""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += list(letters) + [f"##{letter}" for letter in letters[:36]]
    words += ["the", "cat", "sat", "on", "mat", "dog", "tree", "bird", "river", "house"]
    words += [f"word{n}" for n in range(200 - len(words))]
    tokenizer = Tokenizer(
        models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(words[:5])
    tokenizer.save(str(path))
    return path


def write_checkpoint(folder: Path, kind: str) -> Path:
    """A checkpoint folder of Milepost: config, float32 safetensors, tokenizer."""
    import torch

    from milepost_train.model import save_checkpoint

    save_checkpoint(random_model(kind), folder, torch.float32)
    write_tokenizer(folder / "tokenizer.json")
    return folder


def save_tokenizer(folder: Path, *, pad: str = "[PAD]", **settings: Any) -> None:
    """The word pieces as a tokenizer of transformers."""
    from tokenizers import Tokenizer, processors
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer.from_file(str(write_tokenizer(folder / "tokenizer.json")))
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=backend,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token=pad,
        unk_token="[UNK]",
        mask_token="[MASK]",
        **settings,
    ).save_pretrained(folder)


def encoder(folder: Path, kind: str = "bert", *, pad: str = "[PAD]") -> Path:
    """A Hugging Face folder with the word pieces."""
    config = {**CONFIGS["bert" if kind == "xlm-roberta" else kind]}
    del config["model_type"]
    start, end = ("bos", "eos") if kind == "xlm-roberta" else ("cls", "sep")
    config |= {"pad_token_id": PAD, f"{start}_token_id": CLS, f"{end}_token_id": SEP}
    _write(folder, _network(kind, config))
    save_tokenizer(folder, pad=pad)
    return folder


def lmk_folder(folder: Path, **settings: Any) -> Path:
    """A folder of LMK pooling with unit landmarks as ``interop.write_folder`` makes it."""
    from milepost_train.model.interop import read_folder, write_folder
    from milepost_train.model.landmark_transformer import LandmarkTransformer

    lmk = read_folder(encoder(folder.with_name(folder.name + "-hf")), granularity=8)
    made = replace(lmk.settings, **{"unit_landmarks": True, **settings})
    write_folder(LandmarkTransformer(lmk.backbone, lmk.tokenizer, made), folder)
    return folder


def tiny_tokenizer(name: str) -> Any:
    """A tokenizer of 300 entries: ``wordpiece``, ``unigram``, ``metaspace`` (BPE) or ``bytes``."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(_trained(name))


@cache  # trained twice, it has its entries in two orders
def _trained(name: str) -> str:
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
    return str(tokenizer.to_str())


def tiny_network(kind: str, vocabulary: int = 300, **changes: Any) -> Any:
    """A network of ``AutoModel``."""
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
    return _network(kind, settings | changes)


def tiny_folder(folder: Path, kind: str, **changes: Any) -> Path:
    """A Hugging Face folder: config, weights, tokenizer and the names of its special tokens."""
    family = _FAMILY.get(kind, "bytes" if kind.startswith("qwen") else "metaspace")
    tokenizer, specials = tiny_tokenizer(family), _SPECIALS[family]
    pad = specials.get("pad_token")
    settings = {"pad_token_id": pad and tokenizer.token_to_id(pad), **changes}
    network = tiny_network(kind, tokenizer.get_vocab_size(), **settings)
    _write(folder, network)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(specials))
    return folder


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
    from safetensors.numpy import save_file

    sizes = {"hidden_size": 16, "num_attention_heads": 2, "max_position_embeddings": 64}
    _write(folder, tiny_network("roberta" if roberta else "bert", 200, **sizes))
    save_tokenizer(folder, model_max_length=64)
    names = ["", "1_Pooling", "2_Dense"] if dense else ["", "1_Pooling"]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(
            zip(names, ("Transformer", "Pooling", "Dense"), strict=False)
        )
    ]
    fields: dict[str, Any] = {
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 32, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": prompts or {}},
        "1_Pooling/config.json": {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
    }
    if dense:
        tanh = "torch.nn.modules.activation.Tanh"
        fields["2_Dense/config.json"] = {
            "in_features": 16, "out_features": 8, "bias": False, "activation_function": tanh,
        }  # fmt: skip
        weight = np.random.default_rng(6).standard_normal((8, 16)).astype(np.float32)
        (folder / "2_Dense").mkdir()
        save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    for name, value in fields.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


def model2vec(folder: Path) -> None:
    """A model2vec folder of vectors of eight numbers."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer

    folder.mkdir()
    tokenizer = Tokenizer.from_file(str(write_tokenizer(folder / "tokenizer.json")))
    table = np.random.default_rng(5).standard_normal((200, 8)).astype(np.float32)
    StaticModel(table, tokenizer, normalize=False).save_pretrained(folder)


def _network(kind: str, settings: dict[str, Any]) -> Any:
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers' own deprecations
        return randomised(AutoModel.from_config(CONFIG_MAPPING[kind](**settings)))


def _write(folder: Path, network: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.save_pretrained(folder)
