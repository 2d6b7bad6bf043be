"""``milepost doctor``: check the installation and say how to repair it."""

from __future__ import annotations

import click

from milepost.console.options import Settings, common, json_option, model_option, precision_option

BROKEN = 2

_SIGNS = {"ok": "ok  ", "note": "note", "broken": "BAD "}


@click.command(
    short_help="Check the installation and time the model.",
    epilog="""\b
Examples:
  milepost doctor
  milepost doctor --json""",
)
@json_option
@model_option
@precision_option
@common
@click.pass_obj
def doctor(settings: Settings, as_json: bool, model: str | None) -> int:
    """Check Python, dependencies, CPU, engine, model, SQLite, cache and disk.

    Each problem comes with a way to repair it. The exit code is 2 if anything is broken. Timing
    the model takes about a second.
    """
    from milepost.cli.checks import run_checks

    findings = []
    for finding in run_checks(model, settings.precision):
        findings.append(finding)
        if not as_json and not (settings.quiet and finding.state == "ok"):
            hint = f"; try: {finding.hint}" if finding.hint else ""
            click.echo(f"{_SIGNS[finding.state]}  {finding.subject:<13} {finding.detail}{hint}")
    bad = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        from milepost.console.records import print_json

        print_json(
            {
                "ok": not bad,
                "findings": [
                    {
                        "subject": finding.subject,
                        "state": finding.state,
                        "detail": finding.detail,
                        "hint": finding.hint,
                    }
                    for finding in findings
                ],
            }
        )
    return BROKEN if bad else 0
