"""Which licences let a document train weights that ship."""

from __future__ import annotations

import re

_CLOSED = re.compile(
    r"(?<![a-z])nc(?![a-z])|non?[\W_]*commercial|not[\W_]+for[\W_]+(profit|commercial)"
    r"|commercial[\W_]+(use|purposes?)[\W_]+(is[\W_]+|are[\W_]+)?(not|prohibited|forbidden|excluded)"
    r"|(research|academic|scholarly|educational|personal|private|evaluation)([\W_]+\w+)?[\W_]+"
    r"(only|purpose)|for[\W_]+(research|academic)"
)
"""``cc_by_nc_4.0``, "Non-Commercial", "for research purposes only"."""

_DERIVED = re.compile(r"(?<![a-z])nd(?![a-z])|no[\W_]*deriv|all rights reserved|proprietary")
"""Licences of texts that may be passed on, but not changed."""

_FREE = re.compile(
    r"cc[\W_]*(by|0|zero)(?![a-z])|creative commons (zero|attribution)|public[\W_]*domain|"
    r"government (edict|work)|(?<![a-z])(apache|bsd|isc|mpl|a?l?gpl|gfdl|ogl|psf|zlib|epl|eupl|"
    r"pddl|odc[\W_]*by|odbl|open[\W_]+database[\W_]+licen[cs]e|unlicen[cs]e|etalab)(?![a-z])"
    r"|(?<![a-z])(a?l?gpl|mpl|apache|bsd)[\W_v]*\d|open government licen[cs]e"
    # Words of other languages and names, too: alone, or as a licence.
    r"|(^|[;,/(]\s*|collection )mit( licen[cs]e)?($|[;,/)])|mit[\W_]+licen[cs]e"
    r"|(artistic|gnu)[\W_]+(\w+[\W_]+)*licen[cs]e"
)


def barred(licence: object) -> str:
    """What kind of licence keeps a document out: "" if it may be used.

    A document without a licence is its owner's, who trains on it. One whose licence is not
    recognised stays out: nobody has read its conditions.

    >>> barred("cc_by_nc_4.0"), barred("CC BY 4.0"), barred("Foo Public License"), barred(None)
    ('a non-commercial', '', 'an unrecognised', '')
    """
    said = str(licence or "").strip().casefold()
    if not said:
        return ""
    if _CLOSED.search(said):
        return "a non-commercial"
    if _DERIVED.search(said) or not _FREE.search(said):
        return "an unrecognised"
    return ""
