"""Install commands of the pages work for those who have a clone and nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

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
OF_CLONE = re.compile(r"\bpip install (?:-\S+ )*'\.\[([a-z,-]+)\]'([^\n`]*)")
CPU = "--extra-index-url https://download.pytorch.org/whl/cpu"
TORCH = {"torch", "sentence-transformers", "mteb"}
"""What brings torch."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def packages(extra: str) -> Iterator[str]:
    """What an extra installs, with that of the extras it names."""
    for requirement in EXTRAS[extra]:
        name, others = re.match(r"([\w.-]+)(?:\[([^\]]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name != "milepost":
            yield name
        for other in (others or "").split(",") if name == "milepost" else ():
            yield from packages(other)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_installs_is_there(page: Path) -> None:
    """Nothing is asked of PyPI, where Milepost is not; extras exist; torch comes without CUDA."""
    text = page.read_text(encoding="utf-8")
    assert not BY_NAME.findall(text)
    for names, rest in OF_CLONE.findall(text):
        brought = {package for name in names.split(",") for package in packages(name)}
        assert not brought & TORCH or CPU in rest, f"'.[{names}]' brings torch"


def test_an_install_by_name_would_be_found() -> None:
    """In brackets and without, with options; the packages beside it are others."""
    assert len(BY_NAME.findall("`pip install milepost`, pip install -U 'milepost[eval]'")) == 2
    assert not BY_NAME.findall("pip install milepost-multilingual, pip install . milepost")
    assert "torch" in set(packages("lab"))
    assert "torch" not in set(packages("eval"))
    assert OF_CLONE.findall("pip install -e '.[a,b]' --x y  # z\n") == [("a,b", " --x y  # z")]
