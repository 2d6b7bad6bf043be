"""Fixtures of the command line's tests."""

from support.cli_fixtures import *  # noqa: F403
