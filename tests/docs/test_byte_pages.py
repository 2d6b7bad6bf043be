"""The Python of the pages on words and bytes runs as it stands."""

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

pytestmark = pytest.mark.torch
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pooling"
if not FOLDER.is_dir():
    pytest.skip("needs the checkout", allow_module_level=True)


@pytest.mark.parametrize("page", ["words", "bytes"])
def test_the_blocks_run_and_say_something(page, capsys):
    text = (FOLDER / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), {})
        assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("page", ["words", "bytes"])
def test_files_that_are_named_exist(page):
    text = (FOLDER / f"{page}.md").read_text("utf-8")
    for path in re.findall(r"`(src/milepost/[\w/]+(?:\.py|/))`", text):
        assert (FOLDER.parents[1] / path).exists(), path
