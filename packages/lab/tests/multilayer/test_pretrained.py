"""The five designs over a pre-trained encoder."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the lab extra")

from click.testing import CliRunner  # noqa: E402
from tokenizers import Tokenizer, models  # noqa: E402

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost_lab.multilayer.command import command  # noqa: E402
from milepost_lab.multilayer.layer_states import LayerReader  # noqa: E402
from milepost_lab.multilayer.pretrained import (  # noqa: E402
    DESIGNS,
    SIZES,
    PretrainedStudy,
    Reading,
)
from milepost_lab.multilayer.pretrained_table import lines, record  # noqa: E402
from milepost_lab.multilayer.questions import TASKS, TOKENS, asked  # noqa: E402
from support.small_models import write_checkpoint  # noqa: E402

pytestmark = pytest.mark.torch

FILLER = "The hive stands in the garden. It was made of straw. Children pass it on their way. "


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), "bert")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Each task has three documents of each split, with two facts far from each other."""
    shared = tmp_path_factory.mktemp("data")
    for task in TASKS:
        folder = shared / "tasks" / task
        folder.mkdir(parents=True)
        documents, questions = [], []
        for split in ("train", "dev"):
            for number in range(3):
                name = f"{task}-{split}-{number}"
                first, second = f"Queen {name} lays the eggs.", f"Drone {name} does nothing."
                text = f"{FILLER * 2}{first} {FILLER * 6}{second} {FILLER}"
                documents.append({"id": name, "text": text})
                for ask, fact in (("lays", first), ("eggs", first), ("nothing", second)):
                    start = text.index(fact)
                    questions.append(
                        {
                            "id": f"{name}-{ask}",
                            "document": name,
                            "question": f"{ask} {name}",
                            "spans": [[start, start + len(fact)]],
                            "split": split,
                        }
                    )
        for file, rows in (("documents", documents), ("questions", questions)):
            told = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{file}.jsonl").write_text(told)
    return shared


def test_questions_about_one_place_share_its_passage(data, encoder):
    words = LayerReader(encoder, None).words
    found = asked(data, "dev", words)
    assert len(found.questions) == len(TASKS) * 9
    assert len(found.passages) == len(TASKS) * 6
    assert sorted(np.bincount(found.right)) == [1] * 15 + [2] * 15
    assert max(map(len, found.passages)) <= TOKENS
    pairs = found.pairs()
    assert pairs.right == list(range(30))
    assert len({tuple(passage) for passage in pairs.passages}) == len(
        {tuple(passage) for passage in found.passages}
    )
    runs = [a for a, b in zip(pairs.documents, [*pairs.documents[1:], ""], strict=True) if a != b]
    assert len(runs) == len(set(pairs.documents))  # a document's pairs stand together


@pytest.mark.parametrize("bidirectional", [True, False])
def test_states_are_those_of_each_text_alone(encoder, bidirectional, tmp_path):
    """Neither padding nor the cache changes them, and causal tokens see nothing that follows."""
    reader = LayerReader(encoder, tmp_path)
    ids = reader.words.ids(["the queen lays", "eggs", "the queen sees seven drones here"])
    found = reader.states(ids, bidirectional=bidirectional)
    again = LayerReader(encoder, tmp_path).states(ids, bidirectional=bidirectional)
    for number, text in enumerate(ids):
        alone = LayerReader(encoder, None).states([text], bidirectional=bidirectional)
        np.testing.assert_allclose(found.means[number], alone.means[0], atol=4e-3)
        np.testing.assert_allclose(found.ends[number], alone.ends[0], atol=4e-3)
        np.testing.assert_array_equal(again.means[number], found.means[number])
        tokens, lengths = found.read("tokens", [number], every=False)
        assert tokens.shape[1] == lengths[0] == len(text) + 2
        np.testing.assert_allclose(tokens[0, -1, 0], alone.ends[0, -1], atol=4e-3)
        np.testing.assert_allclose(tokens[0, :, 0].mean(0), alone.means[0, -1], atol=4e-3)
    longer = reader.states([[*ids[0], *ids[1]]], bidirectional=bidirectional)
    same = np.allclose(longer.tokens[0], found.tokens[0], atol=4e-3)
    assert same is not bidirectional  # the opening token alone sees itself


def test_each_design_reads_what_the_paper_says(encoder):
    reader = LayerReader(encoder, None)
    states = reader.states(reader.words.ids(["the queen", "eggs"]), bidirectional=True)
    read = {design.name: Reading(design, states, 0).what for design in DESIGNS}
    assert read == {
        "mean": "means",
        "M1": "ends",
        "M2": "ends",
        "M3": "ends",
        "M4": "tokens",
        "M5": "means",
        "M1 both": "ends",
        "M2 both": "ends",
        "M3 both": "ends",
        "layer-mix": "means",
    }
    mean = next(design for design in DESIGNS if design.name == "mean")
    vectors = Reading(mean, states, 0).vectors(states, [1, 0])
    expected = states.means[[1, 0], -1].astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.detach(), expected, atol=1e-6)  # untrained: the mean itself


def study(encoder, data, folder, progress=lambda *_: None, **changed):
    settings = replace(SIZES["quick"], pairs=None, asked=None, **changed)
    return PretrainedStudy(LayerReader(encoder, None), data, settings, folder, progress)


def test_too_few_pairs_are_named(encoder, data):
    with pytest.raises(InputError, match="tasks has 30 training pairs, fewer than 40"):
        study(encoder, data, None, batch=20)


def test_a_folder_of_no_bert_is_named(tmp_path):
    with pytest.raises(InputError, match=r"typo has no tokenizer\.json; try: --model FOLDER of a"):
        LayerReader(tmp_path / "typo", None)
    Tokenizer(models.BPE()).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=r"the tokenizer of .* has no \[CLS\]"):
        LayerReader(tmp_path, None)


def test_a_study_goes_on_with_what_is_kept(encoder, data, tmp_path):
    def stop(name, done, of):
        if done == 3:
            raise KeyboardInterrupt

    more = {"rates": (1e-4, 1e-2), "seeds": (0, 1)}
    with pytest.raises(KeyboardInterrupt):
        study(encoder, data, tmp_path, stop, **more).result(DESIGNS[:3])
    assert len(list(tmp_path.iterdir())) == 3 + 1  # and their settings
    found = study(encoder, data, tmp_path, **more).result(DESIGNS[:3])
    assert found == study(encoder, data, None, **more).result(DESIGNS[:3])
    for runs in found.runs.values():
        assert [run.rate for run in runs] == [runs[0].rate] * 2
        assert len(runs[0].ndcg) == len(found.documents) == 45


def test_the_command_prints_designs_and_differences(encoder, data, tmp_path):
    told = ["--model", encoder, "--data", data, "--size", "quick", "--out", tmp_path]
    asked_for = [str(each) for each in told]
    result = CliRunner().invoke(command, asked_for, obj=Settings(), standalone_mode=False)
    assert result.exception is None
    for name in ("M5 - M1", "M3 both - M2 both", "layer-mix", "detectable"):
        assert name in result.output
    kept = list(tmp_path.glob("quick/*.json"))
    assert len(kept) == len(DESIGNS) + 1
    again = CliRunner().invoke(
        command, [*asked_for, "--json"], obj=Settings(), standalone_mode=False
    )
    fields = json.loads(again.output)
    assert set(fields["runs"]) == {design.name for design in DESIGNS}
    assert fields["gains"]["M5 - M4"]["detectable"] >= 0


def test_the_command_refuses_a_folder_of_other_settings(encoder, data, tmp_path, monkeypatch):
    """What is there stays; more seeds may join it."""
    monkeypatch.setattr(PretrainedStudy.result, "__defaults__", (DESIGNS[:2],))
    other = tmp_path / "other"
    shutil.copytree(data, other)
    for file in (other / "tasks").glob("*/questions.jsonl"):
        file.write_text(file.read_text().replace('"eggs ', '"ovum '))

    def run(model, data):
        told = ["--model", model, "--data", data, "--size", "quick", "--out", tmp_path, "--json"]
        return CliRunner().invoke(
            command, [str(each) for each in told], obj=Settings(), standalone_mode=False
        )

    assert run(encoder, data).exception is None
    folder = tmp_path / "quick"
    kept = {file: file.read_bytes() for file in folder.glob("*.json")}
    for given, differs in (
        ((encoder, other), "the --data of fingerprint"),
        ((write_checkpoint(tmp_path / "modern", "modernbert"), data), "the --model of fingerprint"),
    ):
        refused = run(*given).exception
        assert isinstance(refused, InputError)
        assert str(refused).startswith(f"{folder} holds runs with {differs} ")
    assert {file: file.read_bytes() for file in folder.glob("*.json")} == kept
    monkeypatch.setitem(SIZES, "quick", replace(SIZES["quick"], batch=4))
    assert "holds runs with batch=8, not batch=4; try: batch=8" in str(run(encoder, data).exception)
    monkeypatch.setitem(SIZES, "quick", replace(SIZES["quick"], batch=8, seeds=(0, 1)))
    assert run(encoder, data).exception is None
    assert {file: file.read_bytes() for file in kept} == kept


def test_a_rate_at_an_end_and_a_training_that_was_cut_off_are_marked(encoder, data):
    found = study(encoder, data, None, rates=(1e-4, 1e-3)).result(DESIGNS[:2])
    printed = "\n".join(lines(found))
    assert "0.001*" in printed or "0.0001*" in printed
    assert record(found)["runs"]["M1"][0]["flat"] == found.runs["M1"][0].flat
