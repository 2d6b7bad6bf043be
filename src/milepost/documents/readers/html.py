"""Read HTML and XHTML, and pages that a browser saved as one file (mht, mhtml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email import message_from_bytes, policy
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urljoin

from milepost.documents.encoding import decode
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.html_content import Content
from milepost.documents.readers.html_metadata import properties
from milepost.documents.readers.html_walk import Walk
from milepost.documents.readers.plain import read_plain
from milepost.errors import UnreadableFile
from milepost.types import Document

_META = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?([\w:.-]+)""", re.I
)
_HEAD = 1 << 16
"""Bytes of a page in which it may say its encoding."""

_SUBSET = re.compile(r"<!DOCTYPE[^<>\[]*\[[^\]]*\]\s*>", re.I)
_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)\s+([\"'])((?:(?!\2)[^<>]){0,200})\2\s*>")
_REFERENCE = re.compile(r"&([\w.-]{1,60});")
_MAX_REFERENCES = 100_000  # of a page to entities of its own, which may each be long
_INSTRUCTION = re.compile(r"<\?xml-stylesheet(\s[^<>?]*)\?>")
_PREFIXED = re.compile(r"<(\w+):(?:html|math|svg)\b")
_PREFIX = re.compile(r"(</?)(\w+):(?=\w)")
_XHTML = re.compile(r"\s*<\?xml|.{0,400}?<html[^>]*\sxmlns", re.I | re.S)
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)[\s/])"
    r"([a-z][\w:-]*+)([^<>]*)/>",
    re.I,
)
"""Elements without words in XHTML, except those that never have any."""

_LITERAL = re.compile(r"(<style\b[^<>]*>[^<]*)?<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.S | re.I)

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_AT_RULE = re.compile(r"@([\w-]*)([^{};]*)(?:;|\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}?)")
_IMPORT = re.compile(
    r"@import\s+(?:url\(\s*)?[\"']?([^\"'()\s;]++)[\"']?\s*\)?([^;{}@]{0,200})(?:;|\Z)", re.I
)
_CONDITION = re.compile(r"layer(?:\([^()]*\))?|supports\([^()]*\)", re.I)
_SCREEN = re.compile(
    r"(?:(?:(?:only )?(?:screen|all)|not print)(?: and |$))?"
    r"(?:\((?:min|max)-width:[^()]*\)(?: and |$))*"
)
_WIDTH = re.compile(r"(min|max)-width:\s*([\d.]+)\s*(px|r?em)")
_SCREEN_WIDTH = 1280  # pixels, for style sheets that ask
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*)\}")
_SHOWING = re.compile(
    r"(?:display|visibility|text-decoration|vertical-align|baseline-shift|list-style|position|float|gap"
    r"|justify-content|flex-|opacity|clip|text-indent|font-size|counter-"
    r"|(?<![\w-])(?:left|top|content))[\w\s-]*:",
    re.I,
)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:|line-through|(?:opacity|font-size)\s*:\s*0(?!\.?\d)"
    r"|^(?!.*(?:width|height)\s*:\s*1px).*(?<![\w-])(?:left|top)\s*:\s*-\d{3}",
    re.I | re.S,
)
_PLACES = ("", "before", "after")
_WRITTEN = re.compile(r"::?(before|after)$", re.I)
_FOCUS = re.compile(r":not\(:(?:focus|active)[\w\s,:-]*\)", re.I)
_WEIGHTS = ("#", r"[.\[]", r"(?:^|[\s>+~])[a-z]")
_MAX_RULES = 2000

_ROLES = ("navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog")
_FURNITURE = ", ".join(("nav, footer, aside", *(f"[role={role}]" for role in _ROLES)))
_MENUS = "nav, [role=navigation], footer, [role=contentinfo]"
_BESIDE = f"{_MENUS}, aside"
_UNSEEN = "body script, body style, body noscript, body template"
_MAIN = "main, [role=main]"
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NOTES = re.compile(r"note|cite|reference|bibliog", re.I)
_MAIN_SHARE = 0.5
"""Minimum share of the text in ``main`` or ``article`` elements for menus to be dropped."""

_LEAST_SHARE = 0.1
"""Minimum share of the text outside of menus for them to be dropped where no part is the main one.
"""
_LINKED = 0.5
"""Share of the text of an element that is in links, from which it is a menu."""


_NONE: Mapping[str, str] = MappingProxyType({})


def read_html(
    data: bytes,
    name: str,
    source: str | None,
    sheets: Mapping[str, str] = _NONE,
    location: str = "",
) -> Document:
    """Read a web page; menus and footers are dropped if the page marks its main part.

    ``sheets`` maps the locations of style sheets, as ``located`` writes them, to what they say;
    those count that the page at ``location`` links to for a screen.
    """
    page, notes = decode_page(data, name)
    built = TextBuilder()
    tree = _parsed(page)
    _write(tree, built, sheets, location)
    return built.document(name, source, notes, properties(tree))


def decode_page(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Decode a page by its XML declaration or meta tag; returns text and notes as ``decode``."""
    declared = _META.search(data[:_HEAD])
    return decode(data, name, declared[1].decode("ascii") if declared else None)


def write(
    page: str, text: TextBuilder, sheets: Mapping[str, str] = _NONE, location: str = ""
) -> None:
    """Add the visible text of a page to ``text``; ``sheets`` and ``location`` as ``read_html``."""
    _write(_parsed(page), text, sheets, location)


def located(location: str) -> str:
    """Write a location so that those of the same file are the same."""
    return unquote(location.partition("#")[0]).replace("\\", "/").strip().lstrip("/").lower()


def _parsed(page: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    if known := {*_PREFIXED.findall(page)}:
        page = _PREFIX.sub(lambda tag: tag[1] if tag[2] in known else tag[0], page)
    if _XHTML.match(page):
        # The HTML parser takes literal text for a comment.
        page = _LITERAL.sub(_written_out, page)
        # The HTML parser treats <audio/> as an open tag and would drop the text after it.
        page = _SELF_CLOSED.sub(r"<\1\2></\1>", page)
    if subset := _SUBSET.search(page):
        own = {name: words for name, _, words in _ENTITY.findall(subset[0])}
        page = f"{page[: subset.start()]}<!DOCTYPE html>{page[subset.end() :]}"
        page = _REFERENCE.sub(lambda name: own.get(name[1], name[0]), page, count=_MAX_REFERENCES)
    page += "".join(f"<link rel=stylesheet{said}>" for said in _INSTRUCTION.findall(page[:_HEAD]))
    tree = LexborHTMLParser(page)
    for foot in tree.css("tfoot"):
        if foot.parent is not None and foot.next is not None:  # it is shown below the rows
            foot.parent.insert_child(foot)
            foot.decompose()
    for group in tree.css("hgroup"):  # it is one heading: "I: Mr. Holmes"
        parts = [
            part for part in group.iter() if part.tag in ("p", *_HEADINGS) and part.text().strip()
        ]
        while parts and parts[0].tag == "p":
            parts.pop(0)
        for part in parts[1:]:
            parts[0].insert_child(" " if parts[0].text().rstrip()[-1:] in ".:?!" else ": ")
            parts[0].insert_child(part)
            part.decompose()
    for part in tree.css(", ".join(f"hgroup > * > {tag}" for tag in ("p", *_HEADINGS))):
        part.unwrap()
    return tree


def _written_out(literal: re.Match[str]) -> str:
    sheet, words = literal.groups()
    return sheet + words if sheet else words.replace("&", "&amp;").replace("<", "&lt;")


def _write(tree: Any, text: TextBuilder, sheets: Mapping[str, str], location: str) -> None:
    if tree.body is not None:
        styles, before, after = _styles(tree, sheets, location)
        content = Content(before, after) if before or after else None
        Walk(text, _furniture(tree) | _alternatives(tree), styles, content).walk(tree.body)


def _styles(tree: Any, sheets: Mapping[str, str], location: str) -> tuple[dict[int, str], ...]:
    """Map the ids of elements to what style sheets say of how they are shown.

    Further maps are of what is written before and after each.

    What a sheet hides is hidden only if no script and no sheet of another file can show it.
    """
    unread = dict(sheets)
    sheet = "\n".join(
        _imported(node.text(deep=True), unread, location)
        if node.tag == "style"
        else _linked(node.attributes["href"] or "", unread, location)
        for node in tree.css("style, link[rel~=stylesheet i][href]:not([rel~=alternate i])")
        if _on_any(node.attributes.get("media") or "")
    )
    elsewhere = "body script, script[src], link[rel~=stylesheet i]"
    unsure = len(unread) == len(sheets) and tree.css_first(elsewhere) is not None
    rules = [
        (selector.strip(), said)
        for selectors, said in _RULE.findall(_AT_RULE.sub(_on_screen, sheet))
        if _SHOWING.search(said) and not (unsure and _HIDING.search(said))
        for selector in _FOCUS.sub("", selectors).split(",")
        if ":" not in _WRITTEN.sub("", selector.strip())
    ]
    # Later rules go before earlier ones, and ids before classes before names of elements.
    rules.sort(key=lambda rule: [len(re.findall(kind, rule[0])) for kind in _WEIGHTS])
    styles: tuple[dict[int, str], ...] = ({}, {}, {})
    for selector, said in rules[-_MAX_RULES:]:
        written = _WRITTEN.search(selector)
        found = styles[_PLACES.index(written[1].lower()) if written else 0]
        with suppress(Exception):  # not a selector; the library has an error of its own
            for node in tree.css(_WRITTEN.sub("", selector) or "*"):
                found[node.mem_id] = f"{found.get(node.mem_id, '')}{said};"
    return styles


def _linked(link: str, unread: dict[str, str], location: str) -> str:
    """Take what a style sheet says that a page or another sheet at ``location`` links to."""
    with suppress(ValueError):  # no address
        location = urljoin(location, link)
    return _imported(unread.pop(located(location), ""), unread, location)


def _imported(sheet: str, unread: dict[str, str], location: str) -> str:
    """Return a style sheet without comments and with those that it imports for a screen."""
    return _IMPORT.sub(
        lambda rule: (
            _linked(rule[1], unread, location) if _on_any(_CONDITION.sub("", rule[2])) else ""
        ),
        _COMMENT.sub("", sheet),
    )


def _on_screen(rule: re.Match[str]) -> str:
    """Return the rules in an at-rule that hold on a screen, as browsers show a page."""
    name, said, rules = rule.groups()
    if name in ("layer", "supports") and rules:
        return str(rules)
    return str(rules) if name == "media" and _on_any(said) else ""


def _on_any(media: str) -> bool:
    """Whether a screen is among media, as attributes and style sheets list them."""
    return any(map(_holds, media.lower().split(",")))


def _holds(query: str) -> bool:
    widths = [
        (end, float(number) * (1 if unit == "px" else 16))
        for end, number, unit in _WIDTH.findall(query)
    ]
    return _SCREEN.fullmatch(" ".join(query.split())) is not None and all(
        width <= _SCREEN_WIDTH if end == "min" else width >= _SCREEN_WIDTH for end, width in widths
    )


def _furniture(tree: Any) -> set[int]:
    """Return the ids of menus, footers and asides, if the main part has most of the other text.

    Of a page that marks no main part it is the menus and footers that are mostly links.
    """
    if tree.css_first(_FURNITURE) is None:
        return set()
    beside = tree.css(_BESIDE)
    nested = {node.mem_id for node in tree.css(f":is({_BESIDE}) :is({_BESIDE})")}
    sizes = {node.mem_id: _length([node]) for node in beside if node.mem_id not in nested}
    whole = _length([tree.body]) - _length(tree.css(_UNSEEN))
    words = whole - sum(sizes.values())
    mains = tree.css(_MAIN) or tree.css("article")
    if not mains:
        menus = tree.css(_MENUS) if words >= _LEAST_SHARE * whole else []
        is_content = partial(_is_content, notes=set(), inside=True)
        return {node.mem_id for node in menus if _is_linked(node) and not is_content(node)}
    own = {node.mem_id for main in mains for node in main.css(_BESIDE)}
    held = _length(mains) - sum(size for number, size in sizes.items() if number in own)
    if held < _MAIN_SHARE * max(1, words):
        return set()
    inside = {node.mem_id for main in mains for node in main.css("aside, footer")}
    links = [node.attributes["href"] or "" for main in mains for node in main.css("a[href^='#']")]
    notes = {link[1:] for link in links}
    return {
        node.mem_id
        for node in tree.css(_FURNITURE)
        if not _is_content(node, notes, inside=node.mem_id in inside)
    }


def _length(nodes: Sequence[Any]) -> int:
    return sum(len(" ".join(node.text(deep=True).split())) for node in nodes)


def _alternatives(tree: Any) -> set[int]:
    """Return the ids of what books have in place of formulas, and of what is for other programs."""
    found: set[int] = set()
    for switch in tree.css("epub\\:switch"):
        read = switch.css_first("[required-namespace$=MathML]")
        read = read or switch.css_first("epub\\:default") or switch
        found |= {part.mem_id for part in switch.iter() if part.mem_id != read.mem_id}
    return found


def _is_content(node: Any, notes: set[str], *, inside: bool) -> bool:
    """Whether an aside or footer belongs to the text: notes, boxes, bylines, sources of quotations.

    ``notes`` are the ids that the main part refers to.
    """
    if node.tag not in ("aside", "footer"):
        return False
    if any(each.attributes.get("id") in notes for each in [node, *node.css("[id]")]):
        return True
    attributes = node.attributes
    said = " ".join(attributes.get(key) or "" for key in ("class", "id", "role", "epub:type"))
    if _NOTES.search(said) or node.parent.tag in ("blockquote", "figure"):
        return True
    if not inside or node.css_first("form, input, button") is not None:
        return False
    is_byline = node.tag == "footer" and node.css_first("time") is not None
    return is_byline or not _is_linked(node)


def _is_linked(node: Any) -> bool:
    """Whether most of the text of an element is in links."""
    return _length(node.css("a")) >= _LINKED * max(1, _length([node]))


_SAVED = ("text/html", "text/plain", "application/xhtml+xml")


def read_saved_page(data: bytes, name: str, source: str | None) -> Document:
    """Read the page itself, without the frames and pictures that are saved with it."""
    message = message_from_bytes(data.lstrip(b"\xef\xbb\xbf\r\n\t "), policy=policy.compat32)
    parts = [part for part in message.walk() if part.get_content_type() in _SAVED]
    root = message.get_param("start")
    parts.sort(key=lambda part: part["Content-ID"] != root)  # stable
    sheets: dict[str, str] = {}
    for part in message.walk():
        held = part.get_payload(decode=True)
        if part.get_content_type() == "text/css" and isinstance(held, bytes):
            names = part["Content-Location"], f"cid:{str(part['Content-ID']).strip(' <>')}"
            sheets |= {located(str(name)): held.decode("utf-8", "replace") for name in names}
    for part in parts:
        kind = part.get_content_type()
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes):
            continue
        if kind == "text/plain" and not message.is_multipart() and "mime-version" not in message:
            break  # a text that only has the suffix
        charset = part.get_content_charset()
        if charset and charset != "utf-8":
            content = decode(content, name, charset)[0].encode("utf-8")
        if kind == "text/plain":
            return read_plain(content, name, source)
        return read_html(content, name, source, sheets, str(part["Content-Location"] or ""))
    raise UnreadableFile(f"{name} holds no web page", "save the page again, as HTML")
