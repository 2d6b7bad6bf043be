"""``milepost copy``: documents with their vectors from one index to another."""

from __future__ import annotations

from pathlib import PurePath

import click

from milepost.cli.console.options import Interrupted, json_option, model_option, place_option, say
from milepost.cli.console.progress import Gauge
from milepost.cli.console.screen import visible_name
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.exports.records import print_json, report_record
from milepost.store.address import IndexPlace, label, local_folder
from milepost.wording import counted


@click.command(
    epilog="""\b
Examples:
  milepost copy --from .milepost --to postgresql://db.example.com/notes
  milepost copy --from postgresql://db.example.com/notes --to backup.milepost""",
)
@place_option("--from", "source", "Index to copy.", required=True)
@place_option("--to", "target", "Index to copy to; it is created if missing.", required=True)
@json_option
@model_option
@takes_search_options
def copy(options: SearchOptions, source: IndexPlace, target: IndexPlace) -> None:
    """Copy the documents of an index, with their vectors as they are: nothing is encoded.

    Documents that the other index already has in the same version are skipped; documents that only
    the other index has are kept. After an interruption, the same command continues.
    """
    from milepost.index.cache import UPLOADS
    from milepost.index.copying import copy as copied

    with Gauge(options.settings, wanted=not options.as_json) as bar:

        def show(name: str, number: int, of: int) -> None:
            bar.show(f"{number}/{of} {visible_name(PurePath(name).name)[-30:]}", number - 1, of)

        try:
            report = copied(source, target, model=options.model, progress=show)
        except KeyboardInterrupt:
            raise Interrupted("what was copied is kept; run the same command to continue") from None
    if options.as_json:
        print_json({"from": label(source), "to": label(target), **report_record(report)})
    elif not options.settings.quiet:
        kinds = ("added", "changed", "unchanged")
        counts = [f"{len(getattr(report, kind)):,} {kind}" for kind in kinds]
        counts.append(f"{counted(report.sentences, 'sentence')} copied")
        click.echo(f"{label(target)}: {', '.join(counts)}")
        if (uploads := local_folder(source) / UPLOADS).is_dir():
            say(f"the files in {uploads} are not copied; copy the folder beside the index")
