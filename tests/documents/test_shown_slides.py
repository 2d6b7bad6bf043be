"""What is read of slides is what a person sees: their lists, fields and places."""

from milepost.documents import read_bytes
from support.office_writer import DRAWING, pptx, relations, shape


def shown(data: bytes, name: str) -> str:
    return " ".join(read_bytes(data, name).text.split())


def test_hidden_shapes_and_places_of_the_master() -> None:
    """A placeholder without a place has that of its layout, or of the master."""
    hidden = shape("no", kind="x").replace("<p:nvPr>", "<p:cNvPr hidden='1'/><p:nvPr>")
    place = "<p:spPr><a:xfrm><a:off x='0' y='{}'/><a:ext cx='9' cy='9'/></a:xfrm></p:spPr></p:sp>"
    box = shape("A").replace("</p:sp>", place.format(1))
    master = f"<m xmlns:p='p' xmlns:a='{DRAWING}'>{shape('', kind='body')}</m>"
    data = pptx(
        [shape("b", kind="body") + hidden + box],
        links={0: {"r": ("slideLayout", "../l.xml")}},
        parts={
            "ppt/l.xml": "<l/>",
            "ppt/_rels/l.xml.rels": relations({"r": ("slideMaster", "m.xml")}),
            "ppt/m.xml": master.replace("</p:sp>", place.format(50)),
        },
    )
    assert shown(data, "a.pptx") == "A b"


def test_numbers_of_slides() -> None:
    for kind, wanted in (("circleNumDbPlain", "① a"), ("hebrew2Minus", "א- a")):
        own = f"<a:lvl1pPr><a:buAutoNum type='{kind}'/></a:lvl1pPr>"
        counted = shape("a").replace("<p:txBody>", f"<p:txBody><a:lstStyle>{own}</a:lstStyle>")
        assert shown(pptx([counted]), "a.pptx") == wanted
