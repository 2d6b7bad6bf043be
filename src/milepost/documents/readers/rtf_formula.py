"""Read the formulas of RTF files, whose parts have the names of those of Office Math."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

from milepost.documents.readers.formulas import linear

_TOKEN = re.compile(r"([{}])|\\m([a-zA-Z]+)-?\d* ?|\\[a-zA-Z]+-?\d* ?|\\.|[^\\{}]+", re.DOTALL)


def formula(group: str, text_of: Callable[[str], str]) -> str:
    """Write the formula in a group in one line; ``text_of`` reads the text of a part."""
    node = root = Element("")
    outer: list[Element] = []
    for match in _TOKEN.finditer(group):
        if match[1] == "{":
            outer.append(node)
            node = SubElement(node, "")
        elif match[1]:
            node = outer.pop() if outer else node
        elif match[2] and not node.tag:
            node.tag = match[2]
        else:
            if not len(node) or node[-1].tag != "t":
                SubElement(node, "t").text = ""
            node[-1].text = f"{node[-1].text}{match[0]}"
    for node in [*root.iter()]:
        for words in node.findall("t"):
            words.text = text_of(words.text or "")
            node.set("{m}val", words.text)
    return linear(root)
