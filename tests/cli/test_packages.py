"""Milepost's other packages: what is said where one is missing or of another version."""

import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from milepost import __version__
from milepost._optional import check_installed, require
from milepost.cli import packages
from milepost.cli.program import program
from milepost.errors import MissingExtra, MissingPackage, PackageMismatch


class Installed:
    """Stands for ``importlib.metadata`` of an installation with some packages."""

    def __init__(self, **versions: str) -> None:
        self.versions = {f"milepost-{name}": version for name, version in versions.items()}

    def version(self, name: str) -> str:
        try:
            return self.versions[name]
        except KeyError:
            raise metadata.PackageNotFoundError(name) from None

    def entry_points(self, *, group: str, name: str | None = None) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(name=each, dist=SimpleNamespace(name=package), load=lambda: "loaded")
            for table in (packages.COMMANDS, packages._FUNCTIONS)
            for each, found in table.items()
            if (package := found if isinstance(found, str) else found[0]) in self.versions
            and name in (None, each)
            and (table is packages.COMMANDS) == (group == packages.COMMAND_GROUP)
        ]


@pytest.fixture
def install(monkeypatch):
    def pretend(**versions: str) -> None:
        installed = Installed(**versions)
        monkeypatch.setattr(metadata, "version", installed.version)
        monkeypatch.setattr(metadata, "entry_points", installed.entry_points)

    return pretend


@pytest.mark.parametrize(
    ("name", "installed", "line"),
    [
        ("eval", (), "install milepost-eval (pip install . ./packages/eval in a clone)"),
        (
            "fit",
            (),
            "install milepost-train (pip install . ./packages/eval ./packages/train in a clone)",
        ),
        ("train", ("train",), "install milepost-eval (pip install . ./packages/eval in a clone)"),
    ],
)
def test_a_missing_package_is_one_line(install, capsys, name, installed, line):
    """It names what is missing below it as well, since none of them is on an index."""
    install(**dict.fromkeys(installed, __version__))
    with pytest.raises(SystemExit) as ended:
        program.main([name, "--some", "options"])
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"milepost {name}: {line}\n")


def test_an_option_of_a_missing_package_names_it(install):
    install(eval=__version__)
    with pytest.raises(MissingPackage, match="install milepost-lab"):
        packages.function("install-pooling", asked="export --pooling")


@pytest.mark.parametrize("odd", ["eval", "train"])
def test_a_package_of_another_version_is_refused(install, capsys, odd):
    install(**{"eval": __version__, "train": __version__, odd: "9.9.9"})
    match = rf"milepost-{odd} 9\.9\.9 does not match milepost {__version__}; try: pip install \. "
    with pytest.raises(PackageMismatch, match=match):
        packages.command("train")
    with pytest.raises(SystemExit) as ended:
        program.main(["train"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_help_names_what_is_not_installed(install):
    install(eval=__version__)
    text = CliRunner().invoke(program, ["--help"]).stdout
    assert "[milepost-train is not" in text
    assert program.list_commands(None)[-1] == "eval"


def test_a_mistyped_command_is_no_missing_package(install, capsys):
    install()
    with pytest.raises(SystemExit):
        program.main(["serch"])
    assert "unknown command 'serch'; try: 'search'" in capsys.readouterr().err


def test_what_is_missing_names_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[serve\]'") as raised:
        require("no_such_module_here", extra="serve")
    assert "no_such_module_here" in str(raised.value)
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("extra", "package"), [("train", "./packages/train"), ("rivals", "'./packages/eval[rivals]'")]
)
def test_what_a_package_of_milepost_brings_is_installed_from_the_clone(extra, package) -> None:
    with pytest.raises(MissingExtra) as raised:
        require("no_such_module_here", extra=extra)
    assert raised.value.hint == f"pip install {package}"


def test_what_is_broken_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_here.py").write_text("import a_library_it_needs\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingExtra, match="a_library_it_needs"):
        require("broken_here", extra="train")


def test_what_is_missing_is_found_without_imports() -> None:
    check_installed("json", "antigravity", extra="serve")
    assert "antigravity" not in sys.modules  # it would open a browser
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[serve\]'"):
        check_installed("json", "no_such_module_here", extra="serve")
