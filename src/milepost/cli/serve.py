"""``milepost serve``: the page and the API over HTTP."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.console.options import chosen_db, count_option, db_option, model_options, say
from milepost.cli.language_model import ENVIRONMENT, chosen_endpoint, language_model_options
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.cli.sources import check_recognition, local_sources, served_index
from milepost.index.cache import UPLOADS
from milepost.store.address import data_folder

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.server.settings import ServeSettings


@click.command(
    epilog=f"""\b
Examples:
  milepost serve report.pdf
  milepost serve ~/papers --open
  MILEPOST_API_KEY=… milepost serve --db papers.milepost --host 0.0.0.0

\b
Environment:
  MILEPOST_API_KEY        key that requests must carry (Authorization: Bearer KEY)
  MILEPOST_DB             the index, if neither PATH nor --db is given
  {ENVIRONMENT}""",
)
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@db_option(
    "Folder of the index. [default: MILEPOST_DB, else ./.milepost, else library in Milepost's data "
    "folder]"
)
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    default=8077,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port to listen on; 0 for a free one.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@click.option("--read-only", is_flag=True, help="Do not let anybody add or remove documents.")
@click.option(
    "--allowed-host",
    multiple=True,
    metavar="NAME",
    help="Another name of this server. May be repeated.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    help="Origin of another web page that may use the API. May be repeated.",
)
@click.option(
    "--trusted-proxy",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of a proxy whose X-Forwarded headers count. May be repeated.",
)
@click.option(
    "--root-path", default="", metavar="PATH", help="Prefix of all addresses behind a proxy: /docs."
)
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Maximum number of requests a second per client.",
)
@count_option("--max-upload", 512, "Maximum size of an uploaded file in MiB.")
@count_option("--threads", 2, "Number of searches that run at the same time.")
@click.option("--govern/--no-govern", default=True, help="Pause indexing while searches run.")
@language_model_options("Without one, no answers are written.")
@model_options
@takes_search_options
def serve(
    options: SearchOptions,
    host: str,
    port: int,
    show: bool,
    read_only: bool,
    allowed_host: tuple[str, ...],
    cors: tuple[str, ...],
    trusted_proxy: tuple[str, ...],
    root_path: str,
    rate: float | None,
    max_upload: int,
    threads: int,
    govern: bool,
    endpoint: str | None,
    model_name: str | None,
) -> None:
    """Serve a page to search documents, and an API, over HTTP.

    PATHs are indexed in the background. Files dropped on the page are kept in the folder of the
    index. Only programs on this computer can connect unless --host says otherwise.
    """
    from milepost._optional import check_installed as check_extra

    check_extra("fastapi", "uvicorn", "python_multipart", "prometheus_client", "PIL", extra="serve")
    check_recognition(options.ocr)
    from milepost.server.running import listen, run
    from milepost.server.settings import MEBIBYTE, ServeSettings
    from milepost.server.signals import ended_at_once

    chosen = ServeSettings(
        host=host,
        port=port,
        api_key=os.environ.get("MILEPOST_API_KEY") or None,
        allowed_hosts=allowed_host,
        allowed_origins=cors,
        trusted_proxies=trusted_proxy,
        root_path=root_path,
        max_upload=max_upload * MEBIBYTE,
        rate=rate,
        search_threads=threads,
        govern=govern,
        read_only=read_only,
        language_model=chosen_endpoint(endpoint, model_name),
        ocr=options.ocr,
    )
    sources = local_sources(options.paths)
    # Before the model is loaded: a port in use is known at once, and connections wait.
    with listen(chosen) as socket, ExitStack() as held:
        with ended_at_once():
            index, folder = _index(options, chosen)
            held.enter_context(index)
            from milepost.index.known_files import KnownFiles
            from milepost.server.app import create_app

            known = KnownFiles(folder)
            app = create_app(index, chosen, uploads=folder / UPLOADS, sources=sources, known=known)
        run(app, chosen, socket, show=show, quiet=options.settings.quiet, note=say)


def _index(options: SearchOptions, chosen: ServeSettings) -> tuple[Index, Path]:
    """The index to serve, and its folder: the one named, that of the PATHs, or the user's own."""
    place = None
    if not options.paths or options.db is not None:
        # Files that were dropped on the page have an index of their own, where no other is named.
        place = chosen_db(options.db) or data_folder() / "library"
    read_only = (
        chosen.read_only
        and not options.paths
        and (isinstance(place, str) or bool(place and place.exists()))
    )
    return served_index(options, place, create=True, read_only=read_only, takes_uploads=True)
