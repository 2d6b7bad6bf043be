"""The control words of RTF files that the reader knows, and what they stand for."""

from __future__ import annotations

from milepost.documents.readers.scripts import LOWERED, RAISED

SIGNS = {
    "tab": " ", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ",
    "enspace": " ", "qmspace": " ", "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
SCRIPTS = {"super": RAISED, "sub": LOWERED, "nosupersub": ""}
SYMBOLS = {"~": "\xa0", "_": "‑", "{": "{", "}": "}", "\\": "\\", "\n": "\r", "\r": "\r"}
SKIPPED = frozenset(
    """
    colortbl stylesheet pict header headerl headerr headerf footer footerl footerr footerf
    fldinst objdata objclass objname annotation atnid atnauthor atndate atnref atrfstart atrfend
    bkmkstart bkmkend ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn nonshppict sp shprslt
    themedata datastore listtable listoverridetable rsidtbl generator xmlnstbl latentstyles
    nonesttables filetbl revtbl private1 xe tc tcn rxe template pgptbl
    ffname ffdeftext ffformat ffhelptext ffstattext ffl falt panose fname background
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Destinations whose text is not part of the document: pictures, headers, comments, settings."""

READ = frozenset(
    """
    shpinst shptxt ud moMath moMathPara footnote listtext do dptxbxtext nesttableprops
    """.split()  # noqa: SIM905
)
"""Destinations that are read, although a reader that does not know them is to skip them."""

INSIDE = frozenset(("shptxt", "dptxbxtext", "sp", "ud"))
"""Destinations that begin inside of one that is not read: of a shape, of a text in two forms."""

ENDS = frozenset(("par", "sect", "page", "column", "cell", "row", "nestcell", "nestrow"))

KNOWN = (
    SKIPPED
    | READ
    | ENDS
    | SIGNS.keys()
    | frozenset(
        """
        u f deff uc plain pard intbl v deleted strike striked super sub nosupersub up dn itap
        outlinelevel dropcapli trowd trhdr clvmgf clvmrg cellx pntext upr ansicpg mac pc pca
        """.split()  # noqa: SIM905 - one name a line would hide the list
    )
)
