"""What a page shows of the fields of its forms."""

from __future__ import annotations

from typing import Any

_NOT_TYPED = frozenset("hidden password submit button reset image file color range".split())  # noqa: SIM905


def typed(attributes: dict[str, str | None]) -> str:
    """Return what a field shows that somebody has filled in."""
    kind = (attributes.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return "☒" if "checked" in attributes else ""
    return "" if kind in _NOT_TYPED else attributes.get("value") or ""


def is_chosen(option: Any) -> bool:
    """Whether an option is shown: it is selected, or the first of a list that shows one of them."""
    choices = option.parent
    while choices.tag == "optgroup":
        choices = choices.parent
    if "selected" in option.attributes or choices.css_first("option[selected]") is not None:
        return "selected" in option.attributes
    is_first = choices.css_first("option").mem_id == option.mem_id
    return is_first and not {"multiple", "size"} & choices.attributes.keys()
