"""What a page shows of the fields of its forms."""

from __future__ import annotations

_NOT_TYPED = frozenset("hidden password submit button reset image file color range".split())  # noqa: SIM905


def typed(attributes: dict[str, str | None]) -> str:
    """Return what a field shows that somebody has filled in."""
    kind = (attributes.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return "☒" if "checked" in attributes else ""
    return "" if kind in _NOT_TYPED else attributes.get("value") or ""
