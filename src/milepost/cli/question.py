"""A question to files or an index: options of the commands that ask one, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from milepost.console.options import (
    Command,
    Interrupted,
    Settings,
    hidden_option,
    model_option,
    ocr_option,
    precision_option,
    required_db,
)
from milepost.types import READ_DEFAULTS

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.index import Index
    from milepost.search import Query, SearchResult
    from milepost.store.address import IndexPlace
    from milepost.types import Hidden, Ocr, Report


where_option = click.option(
    "--where",
    metavar="FILTER",
    help="Search only documents that match, such as 'kind = \"pdf\" and year >= 2020'; "
    "docs/filters.md has the grammar and the keys.",
)


def limit_options(command: Command) -> Command:
    """Add ``-k``, ``--budget``, ``--min-score``, ``--in``, ``--where``: what may be found where."""
    return _added(
        command,
        click.option(
            "-k",
            type=click.IntRange(min=1),
            help="Maximum number of passages. [default: 5; with --budget, as many as it holds]",
        ),
        click.option(
            "--budget", metavar="1600c|400t", help="Maximum total length, in characters or tokens."
        ),
        click.option(
            "--min-score",
            type=click.FloatRange(0, 1),
            metavar="PROBABILITY",
            default=0.0,
            show_default=False,
            help="Return only passages with at least this probability, 0 to 1, of holding "
            "evidence; exit code 1 if there are none.",
        ),
        click.option(
            "--in",
            "names",
            metavar="NAME",
            multiple=True,
            help="Search only this document: a name, path, folder or pattern. May be repeated.",
        ),
        where_option,
    )


def reading_options(command: Command) -> Command:
    """Add the options that say how all is read, by which model, in which arithmetic."""
    return _added(
        command,
        hidden_option,
        ocr_option,
        model_option,
        precision_option,
        click.option(
            "--rerank/--no-rerank",
            default=True,
            help="Let the model's reranker, if it has one, score the best windows.",
        ),
        click.option("--no-cache", is_flag=True, help="Do not keep the PATHs in the cache."),
    )


def _added(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):  # the first one is listed first
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Question:
    """What a command was asked; the fields are its options.

    Attributes:
        text: the question, in words.
        paths: files and folders; none for an index.
        db: the index that ``--db`` names.
        k, budget, min_score, names, where: see ``limit_options``.
        model, rerank, no_cache, hidden, ocr: see ``reading_options``.
    """

    text: str
    paths: tuple[str, ...]
    db: IndexPlace | None
    k: int | None
    budget: str | None
    min_score: float
    names: tuple[str, ...]
    where: str | None
    model: str | None
    rerank: bool
    no_cache: bool
    hidden: Hidden | None = None
    ocr: Ocr | None = None

    def open(self, settings: Settings, *, as_json: bool) -> Asked:
        """Open the index, or read the PATHs into one; what cannot be asked is refused before.

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
            InputError: ``--budget`` is not a length, or ``--where`` not a filter.
            MilepostError: there is nothing to search.
        """
        from milepost.filters import given
        from milepost.search import Limits

        Limits.parse(self.k, self.budget, self.min_score)  # before anything slow begins
        given(self.where)
        if self.paths and self.db is not None:
            raise click.UsageError("give PATHs or --db, not both")
        if (self.hidden or self.ocr) and not self.paths:
            raise click.UsageError(
                "--hidden and --ocr are for PATHs; for an index give them to `milepost index`"
            )
        if self.paths:
            return Asked(*self._read(settings, as_json=as_json), self.names)
        from milepost.index import open as open_index

        index = open_index(
            required_db(self.db),
            model=self.model,
            create=False,
            read_only=True,
            precision=settings.precision,
        )
        try:
            return Asked(self._parse(index.model), index, None, self.names)
        except BaseException:
            index.close()
            raise

    def _parse(self, encoder: Encoder) -> Query:
        from milepost.reranker import preload
        from milepost.search import Query

        if self.rerank:
            preload(encoder)  # beside the question's encoding and the reading of documents
        return Query.parse(
            self.text,
            encoder,
            k=self.k,
            budget=self.budget,
            min_score=self.min_score,
            rerank=self.rerank,
            where=self.where,
        )

    def _read(self, settings: Settings, *, as_json: bool) -> tuple[Query, Index, Report]:
        from milepost.cli.sources import expand, indexed, model_for
        from milepost.console.progress import Bar
        from milepost.encoder import load

        cache = not self.no_cache
        try:
            options = READ_DEFAULTS.changed(hidden=self.hidden, ocr=self.ocr)
            sources = expand(self.paths, options)
            model = model_for(settings, self.model, self.paths, options, sources)
            encoder = load(model, precision=settings.precision)
            query = self._parse(encoder)  # costs some milliseconds; reading may cost minutes
            with Bar(settings, as_json=as_json) as bar:
                return query, *indexed(
                    self.paths, encoder, settings, bar, options, cache=cache, sources=sources
                )
        except KeyboardInterrupt:
            kept = "what was read is kept; run the same command to continue" if cache else ""
            raise Interrupted(kept) from None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the index that it is asked of, and what was read for it.

    Attributes:
        query: the question, checked and encoded.
        index: to be closed.
        report: of the PATHs; None where an index was opened.
        names: what ``--in`` says.
    """

    query: Query
    index: Index
    report: Report | None
    names: tuple[str, ...]

    def search(self) -> SearchResult:
        """Search the documents that the PATHs and ``--in`` leave.

        Raises:
            InputError: ``--in`` matches no document.
        """
        from milepost.cli.sources import chosen_documents

        documents = chosen_documents(self.index, self.names, self.report)
        return self.index.search_detailed(self.query, documents=documents)
