"""Folders as other programs write them, around small models with random weights."""

import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from milepost_train.model.landmark_transformer import LmkSettings
from support.small_models import CONFIGS, write_tokenizer

CLS, SEP, PAD = 2, 3, 0
TEXTS = [
    "the cat sat on the mat. the dog sat on the tree. a bird, a river; a house!",
    "dog",
    "",
    "the river [SEP] the house",
    "word60 word61 " * 40,
]


def encoder(folder: Path, kind: str = "bert", *, template: bool = True, pad: str = "[PAD]") -> Path:
    """A Hugging Face folder with random weights, large enough to make states differ."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in _network(kind).items():
        (folder / name).write_bytes(data)
    save_tokenizer(folder, template=template, pad=pad)
    return folder


@cache
def _network(kind: str) -> dict[str, bytes]:
    """Config and weights, as ``save_pretrained`` writes them, which takes it a second."""
    base = {**CONFIGS["bert" if kind == "xlm-roberta" else kind], "model_type": kind}
    base.pop("model_type")
    if kind == "xlm-roberta":
        base |= {"pad_token_id": PAD, "bos_token_id": CLS, "eos_token_id": SEP}
    else:
        base |= {"pad_token_id": PAD, "cls_token_id": CLS, "sep_token_id": SEP}
    config = transformers.AutoConfig.for_model(kind, **base)
    torch.manual_seed(5)
    model = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.6 if "embed" in name else 0.25)
    with tempfile.TemporaryDirectory() as name:
        model.save_pretrained(name)
        return {file.name: file.read_bytes() for file in Path(name).iterdir()}


def save_tokenizer(folder: Path, *, template: bool = True, pad: str = "[PAD]") -> None:
    """The small word pieces as a tokenizer of transformers."""
    from tokenizers import Tokenizer, processors

    backend = Tokenizer.from_file(str(write_tokenizer(folder / "tokenizer.json")))
    if template:
        backend.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
        )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token=pad,
        unk_token="[UNK]",
        mask_token="[MASK]",
    ).save_pretrained(folder)


def settings_of(**fields: Any) -> LmkSettings:
    """Settings for the small tokenizer."""
    usual: dict[str, Any] = {"bos_ids": (CLS,), "landmark": SEP, "granularity": 6, "limit": 64}
    return LmkSettings(**usual | fields)


VARIANTS: list[dict[str, Any]] = [
    {},
    {"granularity": "sentences", "longest": 9},
    {"unit_landmarks": True},
    {"normalized": False, "query_prompt": "dog: ", "document_prompt": "cat: "},
]


def by_the_rule(folder: Path, texts: list[str], g: int, limit: int) -> np.ndarray:
    """The rule written out: one text at a time, plain loops, sums in float64."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    vectors = []
    for text in texts:
        content = tokenizer(text, add_special_tokens=False)["input_ids"]
        content = content[: max(0, (limit - 1) - math.ceil((limit - 1) / (g + 1)))]
        row, places = [CLS], []
        for n, token in enumerate(content):
            row.append(token)
            if (n + 1) % g == 0 or n + 1 == len(content):
                places.append(len(row))
                row.append(SEP)
        if not content:
            places.append(1)
            row.append(SEP)
        with torch.no_grad():
            states = model(input_ids=torch.tensor([row])).last_hidden_state[0].double().numpy()
        mean = sum(states[place] for place in places) / len(places)
        vectors.append(mean / math.sqrt(sum(x * x for x in mean)))
    return np.array(vectors)
