"""What README and docs say is so: names, links, commands, examples, versions."""

import io
import re
import runpy
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import milepost
from milepost.cli.program import program
from milepost.encoder.engine import shipped_models
from support.files import write_files
from support.shipped_book import hive_bees

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

BUILT = {ROOT / "docs" / "cli.md", ROOT / "docs" / "python.md"}
"""Made from the program before the site is built; not in the checkout."""

PAGES = sorted(
    {
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "studies").rglob("*.md"),
        *(ROOT / "packages").glob("*/README.md"),
    }
    - BUILT
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
QUESTION = "How do bees make the cells of the honeycomb?"


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = unquote(target).partition("#")
        file = (page.parent / name) if name else page
        if file in BUILT:
            continue
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_paths_named_in_docs_exist():
    ours = re.compile(r"`((?:bench|docs|examples|packages|src|studies|tests|\.ci)/[\w./-]+)`")
    inside = re.compile(
        r"`((?:documents|encoder|store|search|server|index|cli|milepost_[a-z]+)/[\w/.-]+\.py)`"
    )
    roots = [ROOT / "src" / "milepost", *ROOT.glob("packages/*/src")]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path in ours.findall(text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for path in inside.findall(text):
            if "NAME" not in path:
                found = any((root / path).is_file() for root in roots)
                assert found, f"{page.name}: {path}"


@pytest.mark.parametrize("script", ["make_cli", "make_python"])
def test_the_references_can_be_built(script: str):
    text = runpy.run_path(str(ROOT / "tools" / f"{script}.py"))["reference"]()
    if script == "make_cli":
        assert all(f"## milepost {name}\n" in text for name in program.list_commands(None))
    else:
        assert all(name in text for name in milepost.__all__)


def test_constraints_hold_what_was_asked_for():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    wanted = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for requirement in map(Requirement, wanted):
        if requirement.name != "milepost":
            pin = pins[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(pin), requirement


@pytest.mark.parametrize("number", range(len(blocks("python", README))))
def test_python_of_the_readme_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each block runs as it stands and prints something.

    The first finds the answer: the best passage is in the section on the cells of the hive-bee.
    """
    if not shipped_models():
        pytest.skip("no model is shipped here")
    monkeypatch.chdir(tmp_path)
    cells, _, others = hive_bees().partition("OBJECTIONS TO THE THEORY OF NATURAL SELECTION")
    text = cells[13_000:26_000] + others[:5_000]  # 6,000 of it about the cells
    write_files(tmp_path, {"examples/origin-of-species.txt": text})
    block = blocks("python", README)[number]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {})
    assert printed.getvalue().strip()
    if number == 0:
        assert QUESTION in block
        section = text.index("CELL-MAKING INSTINCT OF THE HIVE-BEE")
        after = text.index(others[:100])
        found = re.match(r"[01]\.\d\d \S+ (\d+)-(\d+) .*\n", printed.getvalue())
        start, end = map(int, found.groups())
        assert section <= start < end <= after
        assert printed.getvalue()[found.end() :].startswith(text[start:end])


INSTALLING = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "packages").glob("*/README.md")),
    *sorted(p for p in (ROOT / "examples").rglob("*") if p.suffix in (".py", ".toml", ".md")),
]
"""Pages for those who have a clone and nothing else."""

BY_NAME = re.compile(r"\bpip install (?:-[\w-]+ )*['\"]?milepost(?!-)\b")
INSTALL = re.compile(r"\bpip install [^\n`]*")
CLONE = re.compile(r"(?<=[\s'])\.(?:/packages/([\w-]+))?(?:\[([a-z,-]+)\])?(?=['\s`]|$)")
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


@pytest.mark.parametrize("page", INSTALLING, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_installs_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not BY_NAME.findall(text)
    for command in INSTALL.findall(text):
        named = CLONE.findall(command)
        brought = {each for package, extras in named for each in brings(package, extras)}
        assert not brought & TORCH or CPU in command, f"{command} brings torch"
        packages = {package for package, _ in named}
        if page.name != "README.md":
            for package in packages & BELOW.keys():
                assert packages >= BELOW[package], command
