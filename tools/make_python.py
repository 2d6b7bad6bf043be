"""Write ``docs/python.md``, the reference of the Python names, from their docstrings.

python tools/make_python.py
"""

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import milepost
from milepost import errors
from milepost.encoder import Encoder
from milepost.index import Index
from milepost.index.intake import Step
from milepost.search import SearchResult
from milepost.store import DocumentInfo

TARGET = Path(__file__).resolve().parent.parent / "docs" / "python.md"

HEAD = """\
# Python

[How it works](concepts.md) explains the parts together; [Python](integrations.md) has examples.

Everything below `milepost` loads on first use: `import milepost` imports neither NumPy nor the
engine. Offsets are code points of the document's text, end exclusive, and
`passage.text == text[passage.start:passage.end]` always.
"""

ERRORS = """\
## Errors

Every error that Milepost raises on purpose is a `milepost.MilepostError`; the others are in
`milepost.errors`. `str(error)` is one line for people: `error.problem`, then `error.hint`, what to
do next.
"""

CLASSES = (Index, Encoder)
ANSWERS = {"SearchResult": SearchResult, "DocumentInfo": DocumentInfo, "Step": Step}
"""Records that calls hand out, though nobody has to import them."""

_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes):$")
_ENTRY = re.compile(r"^(?P<names>[\w, *]+): (?P<rest>.*)$", re.DOTALL)


def reference() -> str:
    """Give the whole reference as Markdown."""
    names = {name: getattr(milepost, name) for name in milepost.__all__}
    functions = {name: item for name, item in names.items() if inspect.isfunction(item)}
    records = {name: item for name, item in names.items() if dataclasses.is_dataclass(item)}
    blocks = [HEAD, "## Functions\n"]
    for name, function in functions.items():
        blocks += _function(f"milepost.{name}", function, level=3)
    for item in CLASSES:
        blocks += _class(item)
    blocks.append("## Records\n\nFrozen dataclasses; make your own `Document`, read the others.\n")
    for name, record in {**records, **ANSWERS}.items():
        blocks += _record(name if name in ANSWERS else f"milepost.{name}", record)
    blocks += [ERRORS, *_errors()]
    return "\n".join(blocks)


def _class(item: type) -> Iterator[str]:
    yield f"## milepost.{item.__name__}\n"
    yield from _prose(item)
    for name, member in vars(item).items():
        if name.startswith("_"):
            continue
        if inspect.isfunction(member):
            yield from _function(f"{item.__name__}.{name}", member, level=3)
        else:  # a property, plain or cached
            getter = member.fget if isinstance(member, property) else member.func
            given = inspect.signature(getter).return_annotation
            yield f"### {item.__name__}.{name}\n"
            yield _code(f"{name}: {_words(given)}")
            yield from _prose(member)


def _record(title: str, record: type) -> Iterator[str]:
    yield f"### {title}\n"
    fields = [
        f"{field.name}: {_words(field.type)}" + _default(field)
        for field in dataclasses.fields(record)
    ]
    yield _code("\n".join(fields))
    yield from _prose(record)
    for name, member in vars(record).items():
        if inspect.isfunction(member) and not name.startswith("_"):
            yield from _function(f"{record.__name__}.{name}", member, level=4)


def _function(title: str, function: Any, *, level: int) -> Iterator[str]:
    yield f"{'#' * level} {title}\n"
    yield _code(_signature(title.rpartition(".")[2], function))
    yield from _prose(function)


def _errors() -> Iterator[str]:
    """Draw the tree of exceptions from the classes themselves."""

    def lines(item: type, depth: int) -> Iterator[str]:
        first = (inspect.getdoc(item) or "").partition("\n")[0]
        yield f"{'  ' * depth}- `{item.__name__}`: {_markdown(first)}"
        for inner in item.__subclasses__():
            if inner.__module__ == errors.__name__:  # rooms have some of their own
                yield from lines(inner, depth + 1)

    yield "\n".join(lines(errors.MilepostError, 0)) + "\n"


def _signature(name: str, function: Any) -> str:
    """One line where it fits, else one parameter a line."""
    signature = inspect.signature(function)
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        text = f"{parameter.name}: {_words(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {parameter.default!r}"
        parts.append(text)
    end = f" -> {_words(signature.return_annotation)}"
    line = f"{name}({', '.join(parts)}){end}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {field.default!r}"
    if field.default_factory is not dataclasses.MISSING:
        return f" = {field.default_factory()!r}"
    return ""


def _words(annotation: object) -> str:
    """Give an annotation as it is written; modules of ours postpone their evaluation."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _prose(item: Any) -> Iterator[str]:
    """Give a docstring as Markdown: paragraphs as they are, sections as lists, examples as code."""
    for block in re.split(r"\n{2,}", inspect.getdoc(item) or ""):
        title, _, rest = block.partition("\n")
        if block.startswith(">>>"):
            yield _code(block)
        elif _SECTION.match(title):
            yield from _section(title, textwrap.dedent(rest))
        else:
            yield _markdown(block) + "\n"


def _section(title: str, body: str) -> Iterator[str]:
    yield f"{title}\n"
    # Lines that are indented go on with the entry before.
    entries = re.sub(r"\n\s+", " ", body).split("\n")
    if title == "Returns:":
        yield _markdown(" ".join(entries)) + "\n"
        return
    for entry in entries:
        match = _ENTRY.match(entry)
        yield f"- `{match['names']}`: {_markdown(match['rest'])}" if match else f"- {entry}"
    yield ""


def _markdown(text: str) -> str:
    return text.replace("``", "`")


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
