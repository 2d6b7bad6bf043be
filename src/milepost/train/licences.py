"""Which licences let a document train weights that ship."""

from __future__ import annotations

import re

_CLOSED = re.compile(
    r"(?<![a-z])nc(?![a-z])|non[\W_]*commercial|not[\W_]+for[\W_]+(profit|commercial)"
    r"|(research|academic|scholarly|educational|personal|private|evaluation)([\W_]+\w+)?[\W_]+"
    r"(only|use|purpose)|for[\W_]+research"
)
"""``cc_by_nc_4.0``, "Non-Commercial", "for research purposes only"."""

_DERIVED = re.compile(r"(?<![a-z])nd(?![a-z])|no[\W_]*deriv|all rights reserved|proprietary")
"""Licences of texts that may be passed on, but not changed."""

_FREE = re.compile(
    r"cc[\W_]*(by|0|zero)(?![a-z])|creative commons (zero|attribution)|public[\W_]*domain|"
    r"government (edict|work)|(?<![a-z])(mit|apache|bsd|isc|mpl|a?l?gpl|gfdl|ogl|psf|zlib|epl|eupl|"
    r"pddl|odc[\W_]*by|odbl|unlicen[cs]e|artistic|open government licence|free[\W_]*software|"
    r"gnu)(?![a-z])|(?<![a-z])(a?l?gpl|mpl|apache|bsd)[\W_v]*\d"
)


def barred(licence: object) -> str:
    """Why a document stays out: "" if it may be used.

    A document that says nothing of a licence is its owner's, who trains on it. One that names a
    licence that is not known here stays out: nobody has read its conditions.

    >>> barred("cc_by_nc_4.0"), barred("CC BY 4.0"), barred("Foo Public License"), barred(None)
    ('non-commercial', '', 'unknown', '')
    """
    said = str(licence or "").strip().casefold()
    if not said:
        return ""
    if _CLOSED.search(said):
        return "non-commercial"
    if _DERIVED.search(said) or not _FREE.search(said):
        return "unknown"
    return ""
