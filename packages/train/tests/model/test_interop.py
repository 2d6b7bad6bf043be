"""Folders of LMK pooling and of other libraries."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import find_model
from milepost.encoder.engine.manifest import SENTENCES
from milepost.errors import ModelError
from milepost_train.config import read_config
from milepost_train.model import (
    load_checkpoint,
    open_checkpoint,
    release,
    save_checkpoint,
    with_lora,
)
from milepost_train.model.export import fingerprint
from milepost_train.model.interop import read_folder, write_folder
from milepost_train.model.landmark_encoder import Reading, TorchEngine
from milepost_train.run import opened
from support.tiny_models import (
    CLS,
    SEP,
    TEXT,
    TEXTS,
    encoder,
    lmk_folder,
    save_tokenizer,
    tiny_folder,
    write_checkpoint,
)
from support.tiny_runs import write_run

KINDS = ("bert", "modernbert", "xlm-roberta")


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


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_rule(tmp_path: Path, kind: str) -> None:
    """A plain folder read as LMK pooling; the caller says how far apart landmarks are."""
    folder = encoder(tmp_path / "m", kind)
    want = by_the_rule(folder, TEXTS, 5, 64)
    lmk = read_folder(folder, granularity=5, limit=64)
    assert np.abs(lmk.model().encode_document(TEXTS, batch_size=3) - want).max() < 1e-6
    assert np.abs(lmk.model().encode_query(TEXTS) - want).max() < 1e-6
    for changes, said in (
        ({}, "granularity=32"),
        ({"granularity": 0}, "0 is not a granularity"),
        ({"granularity": 8, "limit": 1}, "no room"),
        ({"granularity": 8, "limit": 4096}, "the model takes 51"),
    ):
        with pytest.raises(ModelError, match=said):
            read_folder(folder, **changes)


def test_padding_with_the_landmark_is_refused(tmp_path: Path) -> None:
    """What was trained so has its landmarks masked out; its vectors are no LMK vectors."""
    with pytest.raises(ModelError, match="padding and landmark are the same token"):
        read_folder(encoder(tmp_path / "m", pad="[SEP]"), granularity=8)


def test_damaged_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no model"):
        read_folder(tmp_path / "nowhere")
    folder = encoder(tmp_path / "m")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be read"):
        read_folder(folder, granularity=8)
    for wrong, said in (("[{", "cannot be read"), ('{"0": "Transformer"}', "not a list")):
        (folder / "modules.json").write_text(wrong)
        with pytest.raises(ModelError, match=said):
            read_folder(folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="is an adapter"):
        read_folder(folder)


def test_written_by_a_newer_milepost(tmp_path: Path) -> None:
    source = encoder(tmp_path / "source")
    write_folder(read_folder(source, granularity=8), tmp_path / "out")
    path = tmp_path / "out" / "sentence_bert_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"milepost_schema": 1}))
    with pytest.raises(ModelError, match=r"schema 1.*schema 3"):
        read_folder(tmp_path / "out")
    path.write_text(json.dumps({k: v for k, v in config.items() if k != "bos_ids"}))
    with pytest.raises(ModelError, match="damaged: 'bos_ids'"):
        read_folder(tmp_path / "out")


def test_checkpoint_of_ours(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "m", "bert")
    save_tokenizer(folder)
    lmk = read_folder(folder, granularity="sentences")
    model = load_checkpoint(folder)
    model.own_sentence = False
    row = lmk.rows([TEXTS[0]])[0]
    ids = torch.tensor([row.ids])
    with torch.no_grad():
        ours = model(ids, torch.zeros_like(ids), torch.tensor([row.landmarks]))[0]
        states = lmk(lmk.preprocess([TEXTS[0]]))["token_embeddings"][0]
    theirs = torch.nn.functional.normalize(states[torch.tensor(row.landmarks)], dim=-1)
    assert (ours - theirs).abs().max() < 1e-5
    Reading("[CLS]", "[SEP]", own_sentence=True).write(folder)
    with pytest.raises(ModelError, match="own sentence alone"):
        read_folder(folder, granularity=8)


SENTENCE_MARKS = {"landmark": 4, "granularity": SENTENCES}  # a token of its own, [MASK]
TEXT_OF_THREE = "the cat sat on the mat. the dog sat on the tree. who sat on the house?"


def inside(root: Path) -> Path:
    """A folder of sentence-transformers whose network lies in a folder of its own."""
    tiny_folder(root / "0_Transformer", "bert")
    kinds = ("Transformer", "Pooling")
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}", "type": f"sentence_transformers.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    (root / "modules.json").write_text(json.dumps(modules))
    return root


def test_a_folder_of_ours_is_where_a_training_may_begin(tmp_path: Path) -> None:
    """`milepost train --init` opens what `write_folder` wrote, with its landmark."""
    lmk_folder(tmp_path / "lmk", landmark=4, granularity=32)
    config = read_config(write_run(tmp_path / "data", init="../lmk"))
    assert opened(config).reading.landmark == "[MASK]"


LONG_TEXT = "the cat sat on the mat. the dog, a bird and the river sat on the tree! who sat? " * 4
ASKED = "who sat on the tree and on the mat of the house?"


@pytest.mark.parametrize(
    ("settings", "texts", "asked", "notes"),
    [
        (SENTENCE_MARKS, [TEXT_OF_THREE], ["dog"], 0),
        ({"granularity": 6}, [LONG_TEXT, "dog", ASKED], [LONG_TEXT, ASKED], 0),
        # Directions are averaged; a text of one landmark shows no difference.
        ({"granularity": 6, "unit_landmarks": False}, ["dog"], ["dog"], 1),
    ],
)
def test_an_exported_folder_gives_the_vectors_of_the_folder(
    tmp_path: Path, settings: dict[str, Any], texts: list[str], asked: list[str], notes: int
) -> None:
    """Documents and questions, with landmarks after sentences or every six tokens."""
    folder = lmk_folder(tmp_path / "lmk", **settings)
    released = release(folder, tmp_path / "out")
    manifest = released.manifest
    assert (manifest.granularity, manifest.own_sentence) == (settings["granularity"], False)
    assert ["averages landmarks of any length" in note for note in released.notes] == [True] * notes
    model, lmk = milepost.load(tmp_path / "out", cache=False), read_folder(folder).model()
    found = np.array([model.encode(text).document for text in texts])
    np.testing.assert_allclose(found, lmk.encode_document(texts), atol=1e-4)
    np.testing.assert_allclose(model.encode_queries(asked), lmk.encode_query(asked), atol=1e-4)


@pytest.mark.parametrize("prompt", ["query_prompt", "document_prompt"])
def test_settings_that_a_model_folder_does_not_have(tmp_path: Path, prompt: str) -> None:
    with pytest.raises(ModelError, match="puts prompts in front of texts"):
        release(
            lmk_folder(tmp_path / "lmk", **SENTENCE_MARKS, **{prompt: "dog: "}), tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()


def test_rows_that_open_with_two_tokens(tmp_path: Path) -> None:
    """A window opens with one, so such a folder is read by `read_folder` alone."""
    folder = lmk_folder(tmp_path / "lmk", **SENTENCE_MARKS, bos_ids=(CLS, CLS))
    assert len(read_folder(folder).model().encode_document(TEXTS)) == len(TEXTS)
    with pytest.raises(ModelError, match="starts rows with 2 tokens"):
        open_checkpoint(folder)


def test_the_network_of_a_folder_may_lie_inside(tmp_path: Path) -> None:
    folder = inside(tmp_path / "st")
    manifest = release(folder, tmp_path / "out").manifest
    found = milepost.load(tmp_path / "out", cache=False).encode(TEXT).vectors
    inner = open_checkpoint(folder / "0_Transformer")
    config = read_config(write_run(tmp_path / "data", init="../st"))
    assert opened(config).reading.landmark == inner.reading.landmark  # training begins there
    assert fingerprint(inner.model, tmp_path / "out" / "tokenizer.json", manifest) == (
        manifest.fingerprint
    )
    by_torch = Encoder(find_model(tmp_path / "out"), TorchEngine(inner.model))
    np.testing.assert_allclose(found, by_torch.encode(TEXT).vectors, atol=1e-4)


def test_an_adapter_that_does_not_say_where_its_landmarks_stand(tmp_path: Path) -> None:
    """The authors' decoders have them precede each chunk; ours say how they are read."""
    opened = open_checkpoint(tiny_folder(tmp_path / "base", "llama"))
    with_lora(opened.model, rank=2)
    save_checkpoint(opened.model, tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "landmark.json").exists()
    with pytest.raises(ModelError, match=r"adapter without landmark\.json"):
        release(tmp_path / "adapter", tmp_path / "out")
    named = release(tmp_path / "adapter", tmp_path / "out", landmark="</s>")
    assert named.manifest.landmark == "</s>"
    assert open_checkpoint(tmp_path / "adapter").model.causal
