"""The model that reads a language: chosen where its package is installed, and named where not."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from milepost.cli.program import program
from milepost.engine.folder import MULTILINGUAL, PACKAGES, find_model, packaged, shipped_models
from milepost.errors import ModelError
from milepost.library.languages import language_of, model_for

pytest.importorskip("py3langid", reason="needs the test extra")

TEXTS = {
    "en": "The queen lays all the eggs of the colony, and the workers build their cells of wax. ",
    "de": "Die Königin legt alle Eier des Volkes, und die Arbeiterinnen bauen Zellen aus Wachs. ",
    "ja": "女王蜂は巣のすべての卵を産み、働き蜂は蜜蝋で巣房を作ります。花粉も集めてきます。",
    "ru": "Матка откладывает все яйца семьи, а рабочие пчёлы строят соты из воска. ",
    "ar": "تضع الملكة كل بيض الخلية، وتبني العاملات الأقراص من الشمع، وتجمع حبوب اللقاح. ",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a model of that name: the light one in its place, under its name."""
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


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_told_apart(language: str) -> None:
    assert language_of(TEXTS[language] * 3) == language


def test_what_is_no_prose_has_no_language() -> None:
    for text in ("", "12 34 56", "x = 1"):
        assert language_of(text) == ""


def written(folder: Path, *languages: str) -> list[str]:
    """A file of each language."""
    folder.mkdir()
    for number, language in enumerate(languages):
        (folder / f"{number}.txt").write_text(TEXTS[language] * 5, encoding="utf-8")
    return [str(folder)]


def test_most_of_the_files_decide(package: Path, tmp_path: Path) -> None:
    assert model_for(written(tmp_path / "a", "de", "ru", "en")) == MULTILINGUAL
    assert model_for(written(tmp_path / "b", "en", "en", "de")) is None
    assert model_for(["-", "s3://bucket/x", str(tmp_path / "none")]) is None


def test_a_search_takes_it_and_the_index_keeps_it(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """German files are read by the other model, English ones by the default; an index remembers."""
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
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
    with pytest.raises(ModelError, match=r"does not match this version of Milepost.*same version"):
        find_model(MULTILINGUAL)
