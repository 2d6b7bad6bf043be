"""Fixtures of the command line's tests."""

import pytest

from support.cli_fixtures import *  # noqa: F403


@pytest.fixture(autouse=True)
def no_curves() -> None:
    """Here runs draw them."""
