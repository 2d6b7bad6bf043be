"""The counts as tables of Markdown, for ``studies/reliability/README.md``."""

from __future__ import annotations

from pathlib import Path

from faults.log import Record

BEGIN, END = "<!-- counts: bench/stress.py writes them -->", "<!-- end of counts -->"


def write(page: Path, found: Record) -> None:
    """Put the tables where the page has the two marks.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for counts")
    text = f"{before}{BEGIN}\n{tables(found)}{END}{after}"
    page.write_text(text, encoding="utf-8")


def tables(found: Record) -> str:
    """All tables, with what they were measured on."""
    where = (
        f"{found['date']}, commit `{found['commit']}`, seed {found['seed']}, {found['machine']}."
    )
    parts = [where, *_files(found["files"]), *_kills(found["kills"]), *_disks(found["full disks"])]
    return "\n".join(parts) + "\n"


def _files(files: Record) -> list[str]:
    lines = ["", "| hostile files | |", "|---|---:|", _row("made and read", files["cases"])]
    lines += [_row(outcome, count) for outcome, count in files["outcomes"].items()]
    lines += [
        _row("of them with text recognition", files["recognised"]),
        _row("**ended the process that asked**", files["failed"]),
        _row("**with any fault (below)**", files["faults"]),
    ]
    seconds, peak = files["seconds"], files["peak_mib"]
    lines += [
        "",
        f"Without recognition half of them took {seconds['0.5']:g} s or less, 99 % "
        f"{seconds['0.99']:g} s, the longest {seconds['1.0']:g} s. The process that reads, which "
        f"lives on, held {peak['0.5']:g} MiB in the median and {peak['1.0']:g} MiB at most.",
    ]
    return lines


def _kills(kills: Record) -> list[str]:
    lines = ["", "| killed while | kills | of them in the middle of |", "|---|---:|---|"]
    for kind, count in sorted(kills["kinds"].items(), key=lambda pair: -pair[1]):
        phases = sorted(kills["phases"][kind].items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{phase} {number}" for phase, number in phases)
        lines.append(f"| {kind} | {count:,} | {shown} |")
    total = sum(kills["kinds"].values())
    return [*lines, f"| all | {total:,} | **with any fault: {kills['faults']:,}** |"]


def _disks(disks: Record) -> list[str]:
    lines = ["", "| disk full while | cases | full |", "|---|---:|---:|"]
    for kind, counts in disks["outcomes"].items():
        lines.append(f"| {kind} | {sum(counts.values()):,} | {counts.get('full', 0):,} |")
    fault = f"**with any fault: {disks['faults']:,}**"
    return [*lines, f"| all | {disks['cases']:,} | {fault} |"]


def _row(name: str, count: int) -> str:
    return f"| {name} | {count:,} |"
