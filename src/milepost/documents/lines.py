"""Find the lines of a text at which a sentence must start, regardless of their words.

A newline may end a paragraph, or only a line of a hard-wrapped paragraph. The test: a wrapped line
has no room for the first word of the next line. All functions work on one *run* at a time: the
lines between two blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from milepost.language.lists import BULLET, NUMBER
from milepost.language.patterns import late

NARROW, WIDE = 40, 130
"""Range of widths, in columns, of hard-wrapped text; outside it, every newline ends a unit."""

ROOM = 0.88
"""A line is full if it and the next word reach this share of the widest line; below 1, because
lines of hard-wrapped books end a few columns early."""

_FENCE = re.compile(r"(`{3,}|~{3,4}) ?(?:[\w.+#-]*|\{[^`]*\})")
_ALNUM = re.compile(r"[^\W_]")
_FULL_WIDTH = late(r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uffe6]")
_FIRST_WORD = late(  # with an address behind it
    r"[^\s\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff]+(?: <[^\s<>]+>\S*)?"
)

_ALONE = re.compile(
    r"#{1,6}\s"  # a Markdown heading
    r"|\.\.\s|:[A-Za-z][\w -]*:(?:\s|$)"  # a reStructuredText directive or field
    rf"|(?!(?:{BULLET.pattern}|{NUMBER.pattern})[^\t]*$)[^\t]*\S\t+\S"  # cells divided by tabs
    r"|\||.*\S \| \S"  # cells divided by bars
    r"|.*(?:\.{4}|(?:\. ){4})"  # dot leaders of a table of contents
    r"|.*\S {3,}\S.* {3,}\S"  # columns lined up by spaces
)
"""A line that is a unit of its own: its sentence never continues on another line."""

_SPEAKER = re.compile(r"[^\W\d_][\w.'’()/-]*(?: [\w.'’()/-]+){0,4}: \S")
_UNITS = (_ALONE, BULLET, NUMBER, _SPEAKER)
_CODE = re.compile(
    r".*[{}]$|[})\]]|.*\w\(\)|.*(?:=>|\w::\w|->|&&|==|!=|\+=)|.*</?\w+[^>]*>"
    r"|(?=.*;$)(?!.*[^\W\d_]{2}(?:,? [^\W\d_]{2,}){2}\W?;$)"  # but for "of a list of items;"
    r"|(?:def|class|import|return|elif|else|try|except|raise|assert|const|let|var)\b.*[\w:)\]]$"
    r"|(?:#include|//|/\*|@\w|\$ |>>> )|[\w.\[\]\"']+ [-+*/|&]?= ?\S|[\w.]+\(.*\)?$"
)
_INLINE = re.compile(
    r"(?<![`\[])(`+)[^`]+\1|<(?:\w+://|mailto:|[^\s<>@]+@)[^\s<>]+>(?=.)"
    r"|</?(?:a|b|br|code|em|i|kbd|span|strong|su[bp])\b[^<>]*>|<<[\w-]+(?:,[^<>]*)?>>"
)
"""Literals, addresses, tags and references in prose, which make no code. In lists of people, their
addresses end the lines."""
_ENDS = re.compile(r".*[.!?:;…。！？；：؟।॥」』][\"'”’»)\]」』）]*$", re.DOTALL)
_CONTINUES = re.compile(r".*[\w,\-‐–—’']$", re.DOTALL)


_HEAD_CHARS = 400
"""Number of characters of a line that the patterns are applied to, to keep long lines cheap."""

_LONG_WORD = re.compile(r"[!-~]{30}")
_PREFIX = re.compile(r"(?!>>> )(?:>[ \t]?)+|(?:#+|//+!?|\*)(?:[ \t]+|$)")
"""What the lines of quoted mail and of comments begin with."""


class _Line(NamedTuple):
    """A line that is not blank; ``width`` in columns. ``head`` is without a prefix of its run."""

    start: int
    indent: int
    columns: int
    head: str
    tail: str
    fenced: bool


def starts(text: str) -> list[int]:
    """Find the offsets of the lines that begin a unit, ascending."""
    runs = list(_runs(text))
    usual = _usual_width(runs)
    return [start for run in runs for start in _run_starts(run, usual)]


def _runs(text: str) -> Iterator[list[_Line]]:
    """Yield the runs: lists of the lines between blank lines, or of one comment."""
    run: list[_Line] = []
    offset, prefix = 0, ""
    lines = text.splitlines(keepends=True)
    own, kinds = _prefixes(lines)
    bares = [
        line.strip()[len(begin) if kind else 0 :].lstrip()
        for line, begin, kind in zip(lines, own, kinds, strict=True)
    ]
    fences = _fenced(bares)
    for line, bare, shared, fenced in zip(lines, bares, kinds, fences, strict=True):
        if run and (shared != prefix or not bare or fenced != run[-1].fenced):
            yield run
            run = []
        prefix = shared
        if bare:
            words = line.strip()
            indent = len(line) - len(line.lstrip())
            columns = indent + len(words)
            if columns <= WIDE and not words.isascii():
                columns += len(_FULL_WIDTH.findall(words))
            run.append(
                _Line(offset + indent, indent, columns, bare[:_HEAD_CHARS], bare[-20:], fenced)
            )
        offset += len(line)
    if run:
        yield run


def _fenced(lines: Sequence[str]) -> list[bool]:
    """Whether each line is code between two fences, or one of them."""
    fenced = [False] * len(lines)
    fence, first = "", 0
    for number, line in enumerate(lines):
        if not line.startswith(("```", "~~~")):
            continue
        if fence and line.startswith(fence) and not line.strip(fence[0]):
            fenced[first : number + 1] = [True] * (number + 1 - first)
            fence = ""
        elif not fence and (mark := _FENCE.fullmatch(line)):
            fence, first = mark[1], number
    return fenced


def _prefixes(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """What each line begins with, and its kind where a neighbour begins alike, else nothing.

    Lines that begin with an asterisk are items of a list, unless in a comment of C.
    """
    own, kinds = list[str](), list[str]()
    in_comment = False
    for line in lines:
        words = line.strip()
        found = _PREFIX.match(words)
        own.append(found[0] if found and (words[0] != "*" or in_comment) else "")
        kinds.append("".join(own[-1].split()))
        opens = words.startswith("/*")  # elsewhere it may be a pattern of names
        in_comment = (in_comment or opens) and "*/" not in words[2 * opens :]
    around = zip(["", *kinds], kinds, [*kinds[1:], ""], strict=False)
    return own, [kind if kind in (before, after) else "" for before, kind, after in around]


def _usual_width(runs: list[list[_Line]]) -> float:
    """Estimate the width at which the text is wrapped; 0 if no run looks wrapped."""
    widths = [max(line.columns for line in run) for run in runs if len(run) > 2]
    return median([w for w in widths if NARROW <= w <= WIDE] or [0])


def _run_starts(run: list[_Line], usual: float) -> Iterator[int]:
    # A line without a letter or digit (a rule, an underline, a closing brace) begins no unit:
    # it belongs to the line before it.
    if _ALNUM.search(run[0].head):
        yield run[0].start
    if len(run) == 1:
        return
    if max(line.columns for line in run) < NARROW:
        yield from (line.start for line in run[1:] if _ALNUM.search(line.head))
        return
    full = _full_lines(run, usual)
    items = False
    for number in range(1, len(run)):
        before, line = run[number - 1], run[number]
        items = items or bool(BULLET.match(before.head) or NUMBER.match(before.head))
        if _ALNUM.search(line.head) and _begins(before, line, full, number, items):
            yield line.start


def _full_lines(run: list[_Line], usual: float) -> list[bool] | None:
    """For each line but the last, whether the next word did not fit; None if nothing is wrapped."""
    # A long address or reference makes a line too long in a text that is wrapped.
    wrapped = (each for each in run if each.columns <= WIDE or not _LONG_WORD.search(each.head))
    widest = max((line.columns for line in wrapped), default=0)
    if not NARROW <= widest <= WIDE or run[0].fenced:
        return None
    if sum(_is_code(line.head) for line in run) * 5 >= len(run) * 2:
        return None
    if sum(bool(_SPEAKER.match(line.head)) for line in run) * 2 >= len(run):
        return None  # fields or speakers, one per line
    if len(run) < 4:
        widest = max(widest, round(usual))
    full = []
    for before, line in pairwise(run):
        word = _FIRST_WORD.match(line.head)
        full.append(before.columns + 1 + (word.end() if word else 2) >= ROOM * widest)
    structured = sum(any(kind.match(line.head) for kind in _UNITS) for line in run[1:])
    return full if sum(full) >= 0.5 * max(1, len(full) - structured) else None


def _begins(before: _Line, line: _Line, full: list[bool] | None, number: int, items: bool) -> bool:
    """Whether ``line`` begins a unit, given the line before it in the same run."""
    if line.fenced or not _ALNUM.search(before.head):
        return True
    if _ALONE.match(line.head) or _ALONE.match(before.head):
        return True
    flows = full is not None and full[number - 1] and not _ENDS.match(before.tail)
    if BULLET.match(line.head) or NUMBER.match(line.head):
        # "…he was born in / 5. The" is prose; after a full stop or in a list, "5." begins an item.
        return items or not flows
    if _SPEAKER.match(line.head):
        return not flows
    if flows or (full is not None and full[number - 1] and line.indent <= before.indent + 1):
        return False
    # False for a short line that stops in the middle of a phrase.
    return not (
        line.head[0].islower()
        and (full is not None or before.columns >= NARROW)
        and _CONTINUES.match(before.tail)
        and not _is_code(line.head)
        and not _is_code(before.head)
    )


def _is_code(head: str) -> bool:
    return bool(_CODE.match(head) and _CODE.match(_INLINE.sub("x", head)))
