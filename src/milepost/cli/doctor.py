"""``milepost doctor``: check the installation and say how to repair it."""

from __future__ import annotations

from dataclasses import asdict

import click

from milepost.cli.checks import run_checks
from milepost.cli.console.options import json_option, model_option, precision_option
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.exports.records import print_json

BROKEN = 2

_SIGNS = {"ok": "ok  ", "note": "note", "broken": "BAD "}


@click.command(
    epilog="""\b
Examples:
  milepost doctor
  milepost doctor --json""",
)
@json_option
@model_option
@precision_option
@takes_search_options
def doctor(options: SearchOptions) -> int:
    """Check Python, dependencies, CPU, engine, model, SQLite, cache and disk.

    Each problem is shown with a way to fix it. The exit code is 2 if anything is broken. Timing
    the model takes about a second.
    """
    settings, as_json = options.settings, options.as_json
    findings = []
    for finding in run_checks(options.model, settings.precision):
        findings.append(finding)
        if not as_json and not (settings.quiet and finding.state == "ok"):
            hint = f"; try: {finding.hint}" if finding.hint else ""
            click.echo(f"{_SIGNS[finding.state]}  {finding.subject:<13} {finding.detail}{hint}")
    bad = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        print_json({"ok": not bad, "findings": [asdict(finding) for finding in findings]})
    return BROKEN if bad else 0
