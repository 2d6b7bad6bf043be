"""What is read of slides is what a person sees: their lists, fields and places."""

import pytest

from support.office_writer import DRAWING, pptx, relations, shape
from support.shown import shown


def with_master(slide: str, layout: str, master: str) -> bytes:
    """A slide with what its layout and the master of that one hold."""
    space = f"xmlns:p='p' xmlns:a='{DRAWING}'"
    parts = {
        "ppt/l.xml": f"<l {space}>{layout}</l>",
        "ppt/_rels/l.xml.rels": relations({"r": ("slideMaster", "m.xml")}),
        "ppt/m.xml": f"<m {space}>{master}</m>",
    }
    return pptx([slide], links={0: {"r": ("slideLayout", "../l.xml")}}, parts=parts)


def test_hidden_shapes_and_places_of_the_master() -> None:
    """A placeholder without a place has that of its layout, or of the master."""
    hidden = shape("no", kind="x").replace("<p:nvPr>", "<p:cNvPr hidden='1'/><p:nvPr>")
    place = "<p:spPr><a:xfrm><a:off x='0' y='{}'/><a:ext cx='9' cy='9'/></a:xfrm></p:spPr></p:sp>"
    box = shape("A").replace("</p:sp>", place.format(1))
    master = shape("", kind="body").replace("</p:sp>", place.format(50))
    data = with_master(shape("b", kind="body") + hidden + box, "", master)
    assert shown(data, "a.pptx") == "A b"


def test_columns_stay_together() -> None:
    """A file that lists cards one by one, in two rows of two, has their words in this order."""
    boxes = [(x, y) for row in (0, 50) for x in (0, 50) for y in (row, row + 10, row + 20)]
    place = "<p:spPr><a:xfrm><a:off x='{}' y='{}'/><a:ext cx='40' cy='5'/></a:xfrm></p:spPr></p:sp>"
    cards = [
        shape(sign).replace("</p:sp>", place.format(*box))
        for sign, box in zip("abcdefghijkl", boxes, strict=True)
    ]
    assert shown(pptx(["".join(cards)]), "a.pptx") == "a b c d e f g h i j k l"
    left, right = (f"<p:grpSp>{''.join(cards[k : k + 3])}</p:grpSp>" for k in (0, 3))
    assert shown(pptx([right + left]), "a.pptx") == "a b c d e f"


def test_numbers_of_slides() -> None:
    for kind, wanted in (("circleNumDbPlain", "① a"), ("hebrew2Minus", "א- a")):
        own = f"<a:lvl1pPr><a:buAutoNum type='{kind}'/></a:lvl1pPr>"
        counted = shape("a").replace("<p:txBody>", f"<p:txBody><a:lstStyle>{own}</a:lstStyle>")
        assert shown(pptx([counted]), "a.pptx") == wanted


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (("arabicPeriod' startAt='9",) * 2, "9. a 10. b"),
        (("arabicPeriod", "arabicPeriod", "arabicPeriod' startAt='9"), "1. a 2. b 9. c"),
        (("arabicPeriod", "alphaUcPeriod", "alphaUcPeriod"), "1. a A. b B. c"),
    ],
)
def test_numbers_of_slides_begin_again(kinds: tuple[str, ...], wanted: str) -> None:
    counted = shape(*"abc"[: len(kinds)])
    for kind in kinds:
        own = f"<a:p><a:pPr><a:buAutoNum type='{kind}'/></a:pPr><a:r>"
        counted = counted.replace("<a:p><a:r>", own, 1)
    assert shown(pptx([counted]), "a.pptx") == wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("TxLink", "A7"), ("datetime1", "A7"), ("slidenum", "A"), ("CELLRANGE", "A")],
)
def test_fields_of_drawings(kind: str, wanted: str) -> None:
    field = f"</a:r><a:fld type='{kind}'><a:rPr/><a:pPr/><a:t>7</a:t></a:fld></a:p>"
    assert shown(pptx([shape("A").replace("</a:r></a:p>", field)]), "a.pptx") == wanted


@pytest.mark.parametrize("of_master", [False, True])
def test_numbers_of_slides_are_inherited(of_master: bool) -> None:
    """From the placeholder of the layout or else of the master, unless the layout has others."""
    body = shape("", kind="body")
    level = "<a:lstStyle><a:lvl1pPr><a:bu{}/></a:lvl1pPr></a:lstStyle></p:txBody>"
    counted, bullet = (
        body.replace("</p:txBody>", level.format(kind))
        for kind in ("AutoNum type='arabicPeriod'", "Char char='-'")
    )
    layout, master = (body, counted) if of_master else (counted, bullet)
    data = with_master(shape("a", "b", kind="body") + shape("c"), layout, master)
    assert shown(data, "a.pptx") == "1. a 2. b c"
