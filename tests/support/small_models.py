"""Small models with random weights, made on the spot: no download, no stored weights."""

import json
from pathlib import Path
from typing import Any

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
"""A light model, small."""


def random_model(
    kind: str, *, own_sentence: bool = True, verdicts: bool = False, seed: int = 5
) -> Any:
    """A ``LandmarkEncoder`` whose weights are random but large enough to make states differ."""
    import torch

    from milepost_train.model import LandmarkEncoder
    from milepost_train.model.reading import Reading

    torch.manual_seed(seed)
    model = LandmarkEncoder(CONFIGS[kind], own_sentence=own_sentence)
    model.read_as(Reading("", "", own_sentence=own_sentence, verdicts=verdicts))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.6 if "embed" in name else 0.25)
    return model.eval()


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
    """A checkpoint folder: config, float32 safetensors, tokenizer."""
    import torch

    from milepost_train.model import save_checkpoint

    model = random_model(kind)
    save_checkpoint(model, folder, torch.float32)
    write_tokenizer(folder / "tokenizer.json")
    assert json.loads((folder / "config.json").read_text())["model_type"] == kind
    return folder
