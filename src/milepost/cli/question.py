"""A question to files or an index: options of the commands that ask one, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import wraps
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from milepost.cli.console.options import (
    Command,
    Interrupted,
    Settings,
    added,
    common,
    hidden_option,
    model_options,
    required_db,
)
from milepost.cli.console.progress import Bar
from milepost.cli.sources import chosen_documents, expand, indexed, model_for, refuse_swapped
from milepost.filters import as_filter
from milepost.types import READ_DEFAULTS, Document, Hidden, IndexReport, Ocr, ReadOptions
from milepost.wording import nothing_reaches

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.encoder.engine.folder import ModelFolder
    from milepost.index import Index
    from milepost.search import Query, SearchResult
    from milepost.store.address import IndexPlace

T = TypeVar("T")


def min_score_option(help_text: str, default: float = 0.0) -> Callable[[Command], Command]:
    """Make ``--min-score``, a probability."""
    return click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        metavar="PROBABILITY",
        default=default,
        show_default=bool(default),
        help=help_text,
    )


def in_option(verb: str) -> Callable[[Command], Command]:
    """Make ``--in``, the documents that are searched; ``verb`` begins its help."""
    return click.option(
        "--in",
        "names",
        metavar="NAME",
        multiple=True,
        help=f"{verb} this document: a name, path, folder or pattern. May be repeated.",
    )


def no_cache_option(files: str) -> Callable[[Command], Command]:
    """Make ``--no-cache``; ``files`` is what is not kept."""
    return click.option("--no-cache", is_flag=True, help=f"Do not keep the {files} in the cache.")


where_option = click.option(
    "--where",
    metavar="FILTER",
    help="Search only documents that match, such as 'kind = \"pdf\" and year >= 2020'; "
    "docs/filters.md has the grammar and the keys.",
)


def limit_options(command: Command) -> Command:
    """Add ``-k``, ``--budget``, ``--min-score``, ``--in``, ``--where``: what may be found where."""
    return added(
        command,
        click.option(
            "-k",
            "--top-k",
            "k",
            type=click.IntRange(min=1),
            help="Maximum number of passages. [default: 5; with --budget, as many as it holds]",
        ),
        click.option(
            "--budget", metavar="1600c|400t", help="Maximum total length, in characters or tokens."
        ),
        min_score_option(
            "Return nothing, with exit code 1, if an answer is less probable than this, 0 to 1; "
            "else the passages that reach it, or the best one."
        ),
        in_option("Search only"),
        where_option,
    )


def reading_options(command: Command) -> Command:
    """Add the options that say how all is read, by which model, in which arithmetic."""
    return added(
        command,
        hidden_option,
        model_options,
        click.option(
            "--rerank/--no-rerank",
            default=True,
            help="Let the model's reranker, if it has one, score the best windows.",
        ),
        no_cache_option("PATHs"),
    )


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a command searches, and how; the fields are options, see ``takes_search_options``."""

    settings: Settings = field(default_factory=lambda: click.get_current_context().obj)
    as_json: bool = False
    paths: tuple[str, ...] = ()
    db: IndexPlace | None = None
    k: int | None = None
    budget: str | None = None
    min_score: float = 0.0
    names: tuple[str, ...] = ()
    where: str | None = None
    model: str | None = None
    rerank: bool = True
    no_cache: bool = False
    hidden: Hidden | None = None
    ocr: Ocr | None = None

    @property
    def reading(self) -> ReadOptions:
        """How the PATHs are read."""
        return READ_DEFAULTS.changed(hidden=self.hidden, ocr=self.ocr)

    def ask(self, question: str) -> PreparedQuery:
        """Open the index, or read the PATHs into one; what cannot be asked is refused before."""
        from milepost.search import Limits

        Limits.parse(self.k, self.budget, self.min_score)  # before anything slow begins
        as_filter(self.where)
        if self.paths and self.db is not None:
            raise click.UsageError("give PATHs or --db, not both")
        if (self.hidden or self.ocr) and not self.paths:
            raise click.UsageError(
                "--hidden and --ocr are for PATHs; for an index give them to `milepost index`"
            )
        if self.paths:
            command = click.get_current_context().info_name
            hint = f'milepost {command} "…" PATH'
            refuse_swapped(self.paths, question, "QUESTION comes first", hint)
            return PreparedQuery(*self._read(question), self.names)
        index = self.open_index(required_db(self.db))
        try:
            return PreparedQuery(self._parse(question, index.model), index, None, self.names)
        except BaseException:
            index.close()
            raise

    def open_index(
        self, place: IndexPlace, *, create: bool = False, read_only: bool = True
    ) -> Index:
        """Open an index; as it is, to read from it, if not said otherwise."""
        from milepost.index import open as open_index

        return open_index(
            place,
            model=self.model,
            create=create,
            read_only=read_only,
            precision=self.settings.precision,
        )

    def read(
        self, model: Encoder | ModelFolder, sources: list[str | Document] | None = None
    ) -> tuple[Index, IndexReport]:
        """Read the PATHs into an index with a progress bar; see ``sources.indexed``."""
        try:
            with Bar(self.settings, as_json=self.as_json) as bar:
                return indexed(self, model, bar, sources)
        except KeyboardInterrupt:
            kept = "what was read is kept; run the same command to continue"
            raise Interrupted("" if self.no_cache else kept) from None

    def _parse(self, question: str, encoder: Encoder) -> Query:
        from milepost.encoder.reranker import preload, preload_judge
        from milepost.search import Query

        if self.rerank:
            # Beside the question's encoding and the reading of documents.
            preload(encoder)
            preload_judge(encoder)
        return Query.parse(
            question,
            encoder,
            k=self.k,
            budget=self.budget,
            min_score=self.min_score,
            rerank=self.rerank,
            where=self.where,
        )

    def _read(self, question: str) -> tuple[Query, Index, IndexReport]:
        from milepost._silence import import_openvino
        from milepost.encoder import load

        sources = expand(self)
        import_openvino()  # Python holds its lock for that, and not while the model is compiled
        Thread(target=_import_later, daemon=True).start()
        encoder = load(model_for(self, sources), precision=self.settings.precision)
        query = self._parse(question, encoder)  # some milliseconds; reading may take minutes
        return query, *self.read(encoder, sources)


def _import_later() -> None:
    """Import what a search needs next, while the model is compiled."""
    for module in ("tokenizers", "milepost.store.sqlite", "rich.console", "milepost.cli.answer"):
        with suppress(ImportError):  # too little memory, say: where it is needed, it is reported
            import_module(module)


def gathered(kind: type, name: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command those of its options that are fields of a class as one argument of it."""
    names = {each.name for each in fields(kind)}

    def decorate(command: Callable[..., T]) -> Callable[..., T]:
        @wraps(command)
        def with_options(**given: Any) -> T:
            held = {option: given.pop(option) for option in names & given.keys()}
            return command(**{name: kind(**held)}, **given)

        return with_options

    return decorate


def takes_search_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command ``options``: its settings, and those of its options that are fields of it.

    The options that set the settings are added; see ``common``.
    """
    return common(gathered(SearchOptions, "options")(command))


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A question, the index, to be closed, that it is asked of, and what was read for it.

    ``report`` is None where an index was opened; ``names`` is what ``--in`` says.
    """

    query: Query
    index: Index
    report: IndexReport | None
    names: tuple[str, ...]

    def search(self) -> SearchResult:
        """Search the documents that the PATHs and ``--in`` leave."""
        documents = chosen_documents(self.index, self.names, self.report)
        return self.index.search_detailed(self.query, documents=documents)

    def nothing_found(self, result: SearchResult) -> str:
        """Say why a result has no passages."""
        with self.index.snapshot() as state:
            if not state.statistics().documents:
                return "nothing found: there is no text to search"
        if result.best_score > 0.0:
            least = self.query.limits.min_score
            return nothing_reaches(least, result.best_score, result.answerable)
        return ": ".join(["nothing found", *result.notes[:1]])


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is printed; the fields are options, see ``detail_options``."""

    context: int | None = None
    full: bool = False
    every: bool = False

    @property
    def around(self) -> bool:
        """Whether more than the answer is asked for, so that a pipe gets it too."""
        return self.full or self.context is not None

    @property
    def long(self) -> bool:
        """Whether more than a screen is asked for."""
        return self.around or self.every


def detail_options(command: Command) -> Command:
    """Add ``-C``, ``--full`` and ``--all``."""
    return added(
        command,
        click.option(
            "-C",
            "context",
            type=click.IntRange(min=0),
            metavar="N",
            help="Print N sentences before and after each answer.",
        ),
        click.option("--full", is_flag=True, help="Print whole passages."),
        click.option(
            "--all", "every", is_flag=True, help="Print results below 20% too, which are counted."
        ),
    )


takes_detail = gathered(Detail, "detail")
