"""Install commands of the pages work for those who have a clone and nothing else."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "packages").glob("*/README.md")),
    *sorted(p for p in (ROOT / "examples").rglob("*") if p.suffix in (".py", ".toml", ".md")),
]
BY_NAME = re.compile(r"\bpip install (?:-[\w-]+ )*['\"]?milepost(?!-)\b")
COMMAND = re.compile(r"\bpip install [^\n`]*")
FOLDER = re.compile(r"(?<=[\s'])\.(?:/packages/([\w-]+))?(?:\[([a-z,-]+)\])?(?=['\s`]|$)")
"""A folder of the clone in a command: the package, none for Milepost itself, and its extras."""
CPU = "--extra-index-url https://download.pytorch.org/whl/cpu"
TORCH = {"torch", "sentence-transformers", "mteb"}
"""What brings torch."""

BELOW = {"eval": {""}, "train": {"", "eval"}, "lab": {"", "eval", "train"}}
"""Package → what must be installed with it; "" is Milepost itself."""


@cache
def project(package: str) -> dict[str, Any]:
    folder = ROOT / "packages" / package if package else ROOT
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def brings(package: str, extras: str) -> Iterator[str]:
    found = project(package)
    hook = found["tool"]["hatch"].get("metadata", {}).get("hooks", {}).get("custom", {})
    requirements = [*found["project"].get("dependencies", ()), *hook.get("dependencies", ())]
    for extra in filter(None, extras.split(",")):
        requirements += found["project"]["optional-dependencies"][extra]
    for requirement in requirements:
        name, others = re.match(r"([\w.-]+)(?:\[([^\]]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name == "milepost" and others:
            yield from brings("", others)
        yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_installs_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not BY_NAME.findall(text)
    for command in COMMAND.findall(text):
        named = FOLDER.findall(command)
        brought = {each for package, extras in named for each in brings(package, extras)}
        assert not brought & TORCH or CPU in command, f"{command} brings torch"
        packages = {package for package, _ in named}
        if page.name != "README.md":
            for package in packages & BELOW.keys():
                assert packages >= BELOW[package], command
