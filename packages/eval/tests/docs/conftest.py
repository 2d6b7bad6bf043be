"""Scripts that write pages."""

from support.page_scripts import made

__all__ = ["made"]
