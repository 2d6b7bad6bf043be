"""The model that reads a language: chosen where its package is installed, and named where not."""

import importlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import milepost
from milepost.cli.console.options import Settings
from milepost.cli.program import program
from milepost.cli.question import SearchOptions
from milepost.cli.sources import model_for
from milepost.encoder.engine.folder import (
    MULTILINGUAL,
    PACKAGES,
    find_model,
    packaged,
    shipped_models,
)
from milepost.errors import ModelError
from milepost.index.model_choice import Choice, choice_for, sample
from support.files import write_files
from support.languages import PAGES

TEXTS = {name: f"{text} " for (name, _), text in PAGES.items()}
TEXTS["en"] = (
    "The queen lays all the eggs of the colony, and the workers build their cells of wax. "
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    if packaged(MULTILINGUAL) is not None:
        monkeypatch.setitem(PACKAGES, MULTILINGUAL, "milepost_languages_of_a_test")
    module = tmp_path / "site" / PACKAGES[MULTILINGUAL]
    folder = module / MULTILINGUAL
    shutil.copytree(find_model("landmark-light").path, folder)
    (module / "__init__.py").write_text("")
    manifest = json.loads((folder / "milepost.json").read_text())
    manifest |= {"name": MULTILINGUAL, "fingerprint": "feedfacefeedface"}
    (folder / "milepost.json").write_text(json.dumps(manifest))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    return folder


def written(folder: Path, *languages: str) -> list[str]:
    texts = {f"{number}.txt": TEXTS[name] * 5 for number, name in enumerate(languages)}
    return [str(write_files(folder, texts))]


def chosen(paths: list[str], *piped: str) -> Choice:
    return choice_for(sample(paths).files, piped)


def test_most_of_the_files_decide(package: Path, tmp_path: Path) -> None:
    assert chosen(written(tmp_path / "a", "de", "ru", "en")) == Choice(MULTILINGUAL)
    assert chosen(written(tmp_path / "b", *["en"] * 9, "de")) == Choice(None)
    assert chosen(["-", "s3://bucket/x", str(tmp_path / "none")]) == Choice(None)


def test_a_script_that_no_model_reads_decides_nothing(package: Path, tmp_path: Path) -> None:
    assert chosen(written(tmp_path / "a", "am", "am", "en")) == Choice(None)


def test_files_are_drawn_from_the_whole_list(package: Path, tmp_path: Path) -> None:
    languages = ["en"] * 5 + ["ja"] * 50
    texts = {f"{number:03}.txt": TEXTS[name] * 5 for number, name in enumerate(languages)}
    folder = write_files(tmp_path / "many", texts)
    drawn = sample([str(folder)])
    names = [path.name for path in drawn.files]
    assert len(names) == len(set(names)) == 12
    assert (names[0], names[-1]) == ("000.txt", "054.txt")
    assert sample([str(folder)]) == drawn
    assert chosen([str(folder)]) == Choice(MULTILINGUAL)
    (folder / "055.txt").write_text(TEXTS["en"], encoding="utf-8")
    assert sample([str(folder)]).digest != drawn.digest


def test_a_minority_is_reported(package: Path, tmp_path: Path) -> None:
    choice = chosen(written(tmp_path / "a", "en", "en", "de"))
    assert choice.model is None
    assert choice.message == (
        "1 of 3 files looked at is not English, which landmark-minilm reads; try: --model "
        "landmark-multilingual"
    )


def test_a_piped_text_is_looked_at(package: Path, tmp_path: Path) -> None:
    assert chosen(["-"], TEXTS["ja"] * 9) == Choice(MULTILINGUAL)
    assert chosen(["-"], TEXTS["en"] * 9) == Choice(None)
    assert chosen([*written(tmp_path / "a", "en"), "-"], TEXTS["de"] * 90) == Choice(MULTILINGUAL)


def test_a_pipe_is_read_once(package: Path) -> None:
    arguments = ["search", "Wer legt die Eier?", "-", "--json"]
    result = CliRunner().invoke(program, arguments, input=TEXTS["de"] * 3)
    assert result.exit_code == 0, result.output
    assert "Königin" in json.loads(result.stdout)["passages"][0]["text"]
    assert "is not English" not in result.stderr


def test_the_choice_is_made_again_when_files_change(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = written(tmp_path / "texts", "en", "en", "de")
    options = SearchOptions(Settings(), paths=tuple(paths))
    told = []
    monkeypatch.setattr("milepost.cli.sources.say", told.append)
    assert (model_for(options), model_for(options)) == (None, None)
    assert [line[:14] for line in told] == ["1 of 3 files l"]
    for number in range(4):
        (tmp_path / "texts" / f"new{number}.txt").write_text(TEXTS["ru"] * 5, encoding="utf-8")
    assert (model_for(options), model_for(options)) == (MULTILINGUAL, MULTILINGUAL)
    (tmp_path / "texts" / "0.txt").write_text(TEXTS["en"] * 90, encoding="utf-8")
    assert model_for(options) is None
    assert len(told) == 2
    assert model_for(replace(options, model="landmark-light")) == "landmark-light"


def test_a_search_takes_it_and_the_index_keeps_it(package: Path, tmp_path: Path) -> None:
    paths = written(tmp_path / "texts", "de", "de")
    run = CliRunner().invoke

    def found(*arguments: str) -> str:
        result = run(program, ["search", "Wer legt die Eier?", *arguments, "--explain", "--json"])
        assert result.exit_code in (0, 1), result.output
        return result.stdout

    first, again = found(*paths), found(*paths)
    assert json.loads(first)["passages"] == json.loads(again)["passages"]
    made = [each for each in (tmp_path / "cache" / "indexes").iterdir() if each.is_dir()]
    assert len(made) == 1
    place = str(tmp_path / "db")
    assert run(program, ["index", *paths, "--db", place]).exit_code == 0
    info = run(program, ["info", "--db", place, "--json"])
    assert info.exit_code == 0, info.output
    assert "0.txt" in found("--db", place)


def test_the_missing_package_is_named() -> None:
    if packaged(MULTILINGUAL) is not None:
        pytest.skip("it is installed")
    hint = r"milepost-multilingual, which is not installed.*pip install \./packages/multilingual"
    with pytest.raises(ModelError, match=hint):
        find_model(MULTILINGUAL)
    assert MULTILINGUAL not in {model.manifest.name for model in shipped_models()}


def test_a_package_of_another_version_is_named(package: Path) -> None:
    manifest = json.loads((package / "milepost.json").read_text())
    (package / "milepost.json").write_text(json.dumps(manifest | {"schema": 99}))
    problem = "does not match this version of Milepost"
    with pytest.raises(ModelError, match=problem) as raised:
        find_model(MULTILINGUAL)
    hint = raised.value.hint
    assert re.fullmatch(r"pip install \. \./packages/\S+ in a clone of Milepost", hint)
    assert MULTILINGUAL not in {model.manifest.name for model in shipped_models()}
    run = CliRunner().invoke
    assert f"{MULTILINGUAL}  (unusable)" in run(program, ["models"]).stdout
    (unusable,) = json.loads(run(program, ["models", "--json"]).stdout)["unusable"]
    assert (unusable["name"], unusable["hint"]) == (MULTILINGUAL, hint)
    found = run(program, ["doctor", "--json", "--model", "landmark-light"])
    findings = json.loads(found.stdout)["findings"]
    (finding,) = [each for each in findings if each["subject"] == "model package"]
    assert (finding["state"], finding["hint"]) == ("note", hint)
    assert problem in finding["detail"]


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_python_takes_it_for_what_is_added_first(package: Path, tmp_path: Path, kind: str) -> None:
    """As the command line does; an index that has documents or a model keeps its model."""
    place = tmp_path / "db" if kind == "folder" else None
    german, english = (
        milepost.Document(name, TEXTS[name] * 9, properties={"n": 1}) for name in ("de", "en")
    )
    with milepost.open(place) as index:
        index.add([])
        assert index.add([german]).added == ("de",)
        assert index.model.manifest.name == MULTILINGUAL
        assert MULTILINGUAL in repr(index)
        index.add([english])
        assert len(index.documents()) == 2
        assert index.search("Wer legt die Eier?", k=1)
    with (
        milepost.open(place, model="landmark-light")
        if place is None
        else milepost.open(place) as again
    ):
        again.add([german])
        assert again.model.manifest.name == ("landmark-light" if place is None else MULTILINGUAL)
    with milepost.open() as index:
        index.add([english])
        assert index.model.manifest.name == "landmark-minilm"


def test_python_warns_of_a_minority(package: Path, tmp_path: Path) -> None:
    """It names the model that would read it."""
    paths = written(tmp_path / "a", "en", "en", "de")
    with (
        milepost.open() as index,
        pytest.warns(UserWarning, match=f"model={MULTILINGUAL}") as caught,
    ):
        index.add(paths)
    assert caught[0].filename == __file__


def test_python_leaves_a_model_that_was_used(package: Path) -> None:
    """A vector of it may be in the hands of the caller."""
    with milepost.open() as index:
        name = index.model.manifest.name
        index.add(milepost.Document("de", TEXTS["de"] * 9))
        assert index.model.manifest.name == name
