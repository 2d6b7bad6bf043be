"""Vaults of Obsidian: their notes as they read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.text import files, read
from milepost.text.vaults import readable, vault_of

NOTE = """---
tags: [bees]
up: "[[Insects]]"
---
# About [[Bees|the bee]]

The [[hive-bee]] builds ![[cell.png|300]] of wax, see [[Notes/Wax#Melting point]]. #wax ^a1

```sh
if [[ -f x ]]; then echo %% y %%; fi
```

`[[code]]` and %%a remark%%a [link](x.md).
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    for name in (".obsidian", ".trash", "sub"):
        (folder / name).mkdir(parents=True)
    (folder / "sub" / "bees.md").write_text(NOTE, encoding="utf-8")
    (folder / ".obsidian" / "app.json").write_text("{}", encoding="utf-8")
    (folder / ".trash" / "old.md").write_text("old", encoding="utf-8")
    return folder


def test_a_note_reads_as_its_words(vault: Path) -> None:
    document = read(vault / "sub" / "bees.md")
    assert document.text == (
        '---\ntags: [bees]\nup: "[[Insects]]"\n---\n# About the bee\n\n'
        "The hive-bee builds cell.png of wax, see Notes/Wax, Melting point. #wax\n\n"
        "```sh\nif [[ -f x ]]; then echo %% y %%; fi\n```\n\n"
        "`[[code]]` and a [link](x.md).\n"
    )
    assert [mark.value for mark in document.marks if mark.kind == "heading"] == ["About the bee"]
    assert all(0 <= block < len(document.text) for block in document.blocks)


def test_markdown_elsewhere_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bees.md"
    path.write_text(NOTE, encoding="utf-8")
    assert read(path).text == NOTE
    assert vault_of(str(path)) is None


def test_the_own_folders_of_a_vault_are_skipped(vault: Path) -> None:
    assert [path.name for path in files([vault])] == ["bees.md"]
    assert vault_of(str(vault / "sub" / "bees.md")) == vault


@given(st.text(st.sampled_from("ab #|^!%`~-\n[]"), max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    made = readable(text)
    assert len(made) <= len(text)
    if not any(sign in text for sign in ("[[", "%%", "^")):
        assert made == text
