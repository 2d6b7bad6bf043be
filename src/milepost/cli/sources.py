"""From the PATHs of a command to an index of them: read, cached and brought up to date, served."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from milepost import errors
from milepost._paths import expanded
from milepost.cli.console.options import Settings, say
from milepost.objects import ObjectAddress, is_address
from milepost.store.address import IndexPlace, local_folder

if TYPE_CHECKING:
    from milepost.cli.question import SearchOptions
    from milepost.encoder import Encoder
    from milepost.encoder.engine.folder import ModelFolder
    from milepost.index import Index
    from milepost.index.intake import Step
    from milepost.index.known_files import KnownFiles
    from milepost.store import Snapshot
    from milepost.types import Document, IndexReport, Ocr, ReadOptions

STDIN = "stdin"  # the name of a document that came through a pipe
_SHOWN = 10  # failures printed; --json lists all


def expand(options: SearchOptions) -> list[str | Document]:
    """Return the PATHs as ``Index.add`` takes them; ``-`` is read from stdin, once."""
    if "" in options.paths:  # an unset shell variable; Python would read the current folder
        raise errors.InputError("a PATH is empty", "a file or folder (. is this folder)")
    sources: list[str | Document] = [path for path in options.paths if path != "-"]
    if "-" in options.paths:
        sources.append(read_stdin(options.reading))
    return sources


def read_stdin(options: ReadOptions) -> Document:
    """Read a document of any format from stdin."""
    from milepost.documents import read_bytes

    if sys.stdin.isatty():
        say("reading from the terminal; end with Ctrl-D on a line of its own")
    data = sys.stdin.buffer.read()
    if not data:
        raise errors.UnreadableFile("stdin is empty", "pipe a text into it, or name a file")
    return read_bytes(data, STDIN, None, options)


def refuse_swapped(paths: Sequence[str], words: str, place: str, hint: str) -> None:
    """Raise an error if words were given as PATHs and a file as words; ``place`` is of words."""
    if paths and words != "-" and not any(map(_exists, paths)) and _exists(words):
        raise errors.InputError(f"{paths[0]!r} is not a file; {place}", hint)


def _exists(path: str) -> bool:
    try:
        return path == "-" or is_address(path) or expanded(path).exists()
    except (OSError, ValueError):  # a name too long, a null character
        return False


def note_file(options: SearchOptions, words: str, instead: str) -> None:
    """Say so where words that are looked for are the name of a file, which is not read."""
    with suppress(OSError, ValueError):  # too long for a name, a null character
        if not options.settings.quiet and Path(words).is_file():
            say(f"{words} is a file, and only its name is looked for; {instead}")


def model_for(options: SearchOptions, sources: Sequence[str | Document] = ()) -> str | None:
    """The model that is named, else the one that reads the language of the PATHs' files.

    The choice is kept in the cache: files are looked at again where the list of them has changed.
    What users should know of it is said when it is made. ``sources`` is what ``expand`` made of the
    PATHs; of it the text that came through a pipe is looked at.
    """
    from milepost.encoder.engine.folder import MULTILINGUAL, cache_folder, packaged

    paths = options.paths
    if options.model is not None or packaged(MULTILINGUAL) is None:
        return options.model
    from milepost.index import model_choice

    drawn = model_choice.sample(paths)
    kept = cache_folder() / "languages" / cache_place(options, "").name
    with suppress(OSError, ValueError):  # missing, or of an earlier version
        digest, chosen = kept.read_text(encoding="utf-8").split("\n")
        if digest == drawn.digest and "-" not in paths:
            return chosen or None
    model = chosen_for(options.settings, drawn.files, sources)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(f"{drawn.digest}\n{model or ''}", encoding="utf-8")
    return model


def chosen_for(
    settings: Settings, files: Sequence[Path], sources: Sequence[str | Document]
) -> str | None:
    """The model for some files and piped text; what users should know of the choice is said."""
    from milepost.index import model_choice

    piped = [source.text for source in sources if not isinstance(source, str)]
    choice = model_choice.choice_for(files, piped)
    if choice.message and not settings.quiet:
        say(choice.message)
    return choice.model


def model_folder(options: SearchOptions, sources: Sequence[str | Document] = ()) -> ModelFolder:
    """The folder of ``model_for``."""
    from milepost.encoder.engine import find_model

    return find_model(model_for(options, sources))


def cache_place(options: SearchOptions, fingerprint: str) -> Path:
    """Folder in the cache for the index of the PATHs, read like this, made by this model."""
    from milepost.documents.readers.formats import TEXT_VERSION
    from milepost.encoder.engine.folder import cache_folder
    from milepost.index.cache import INDEXES

    # Not resolved: a document keeps the path that the user gave.
    absolute = sorted({_written(path) for path in options.paths})
    read = str(options.reading)
    key = "\0".join([read, *absolute] if read else absolute)
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    # Indexes whose names begin alike can copy documents from one another: see ``KnownFiles``.
    return cache_folder() / INDEXES / f"{fingerprint[:16]}-{TEXT_VERSION}-{digest[:24]}"


def _written(path: str) -> str:
    """A path in the one way to write it; ``-`` and addresses depend on no folder."""
    if path == "-":
        return path
    if is_address(path):
        return str(ObjectAddress.parse(path))
    return str(expanded(path).absolute())


def indexed(
    options: SearchOptions,
    model: Encoder | ModelFolder,
    progress: Callable[[Step], None],
    sources: list[str | Document] | None,
) -> tuple[Index, IndexReport]:
    """Bring an index of the PATHs up to date; unchanged files are not opened.

    A model that is given as a folder is loaded when a text has to be encoded. ``sources`` is what
    ``expand`` has made of the PATHs, where it was called before: a pipe is read once.

    The cache is best effort: a damaged one is built again, one that cannot be written is not used.
    A file is copied from an index that holds one of the same content.
    """
    from milepost.encoder.engine.folder import ModelFolder
    from milepost.index import open as open_index
    from milepost.index.cache import keep_within, limit_bytes, mark_used
    from milepost.index.known_files import KnownFiles

    sources = expand(options) if sources is None else sources
    chosen = model.path if isinstance(model, ModelFolder) else model
    opened = partial(open_index, model=chosen, precision=options.settings.precision)
    reading = options.reading

    def filled(index: Index, known: KnownFiles | None = None) -> IndexReport:
        try:
            return index.add(
                sources, progress=progress, hidden=reading.hidden, ocr=reading.ocr, known=known
            )
        except BaseException:
            index.close()
            raise

    if not options.no_cache and any(map(_exists, options.paths)):  # a wrong path leaves nothing
        folder = cache_place(options, model.manifest.fingerprint)
        limit = limit_bytes()
        for attempt in range(2):
            try:
                index = opened(folder)
                mark_used(folder)
                report = filled(index, KnownFiles(folder))
            except errors.IndexBusy:
                raise
            except (errors.IndexDamaged, errors.NewerSchema, errors.OldSchema) as error:
                if attempt or not _erased(folder):
                    _note(options, error)
                    break
            except errors.StoreError as error:
                _note(options, error)
                break
            else:
                if report.added or report.changed:
                    keep_within(limit)
                return index, report
    index = opened(None)
    return index, filled(index)


def cached_index(options: SearchOptions, suffix: str = "") -> tuple[Index, Path]:
    """The index of the PATHs in the cache, as it is, and its folder; a damaged one is erased."""
    from milepost.index import open as open_index
    from milepost.index.cache import mark_used

    model = model_folder(options)
    folder = cache_place(options, model.manifest.fingerprint)
    folder = folder.with_name(f"{folder.name}{suffix}")
    opened = partial(open_index, folder, model=model.path, precision=options.settings.precision)
    try:
        index = opened()
    except (errors.IndexDamaged, errors.NewerSchema, errors.OldSchema) as error:
        _note(options, error)
        if not _erased(folder):
            raise
        index = opened()
    except errors.IndexBusy:
        raise
    except errors.StoreError as error:
        hint = "set MILEPOST_CACHE to a folder that can be written, or --db FOLDER"
        raise errors.StoreError(error.problem, hint) from error
    mark_used(folder)
    return index, folder


def _erased(folder: Path) -> bool:
    from milepost.store import erase_store

    try:
        erase_store(folder)
    except errors.StoreError:
        return False
    return True


def _note(options: SearchOptions, error: errors.StoreError) -> None:
    if not options.settings.quiet:
        say(f"the cache is not used: {error.problem}")


def read_names(report: IndexReport) -> set[str]:
    """Names of the documents that a report covers."""
    return {*report.added, *report.unchanged, *report.changed}


_PATHS, _LISTED = "a file of those PATHs", "milepost info, which lists documents"


def chosen_documents(
    index: Index, names: Sequence[str], report: IndexReport | None
) -> list[str] | None:
    """Names of the documents that the PATHs and ``--in`` leave; None for all."""
    if not names and report is None:
        return None
    stored = [info.name for info in index.documents()]
    inside = stored
    if report is not None:
        read = read_names(report)
        inside = [name for name in stored if name in read]
    if names:
        return select(inside, names, _LISTED if report is None else _PATHS)
    return inside if len(inside) < len(stored) else None


def select(known: Sequence[str], wanted: Sequence[str], hint: str = _PATHS) -> list[str]:
    """Find the documents that match ``--in``: by name, path, folder, file name or pattern."""
    from milepost.index.naming import matching
    from milepost.index.places import absolute

    chosen: dict[str, None] = {}
    for want in wanted:
        if not want:
            raise errors.InputError("--in is empty", "a document, a folder or a pattern")
        place = str(ObjectAddress.parse(want)) if is_address(want) else want
        matches = matching(known, place, str(absolute(place)))
        if not matches:
            near = errors.nearest_file(want, {Path(name).name for name in known})
            raise errors.InputError(f"no document matches {want}", near + hint)
        chosen |= dict.fromkeys(matches)
    return list(chosen)


def unreadable(report: IndexReport | None) -> bool:
    """Whether none of the PATHs could be read; None where an index was opened."""
    return report is not None and bool(report.failed) and not read_names(report)


def complain(report: IndexReport | None) -> None:
    """Print the files that could not be read, and why, on stderr."""
    for line in complaints(report):
        say(line)


def complaints(report: IndexReport | None) -> list[str]:
    """Lines about the files that could not be read, and why."""
    failed = report.failed if report is not None else {}
    lines = [
        f"not read: {reason if name in reason else f'{name}: {reason}'}"
        for name, reason in list(failed.items())[:_SHOWN]
    ]
    if len(failed) > _SHOWN:
        lines.append(f"not read: {len(failed) - _SHOWN} more; --json lists them all")
    return lines


def unsure(index: Index) -> list[str]:
    """A line where percentages are no probabilities, so that a limit means little."""
    if index.calibrated:
        return []
    return [
        "this model's percentages only order passages; try: --min-score 0, or milepost fit "
        "to learn probabilities"
    ]


@contextmanager
def stored(place: IndexPlace, model: str | None = None) -> Iterator[tuple[Snapshot, ModelFolder]]:
    """What an index holds, and the model that made it, which is not loaded."""
    from milepost.encoder.engine import ModelFolder
    from milepost.index.store_opening import opened_store

    store, chosen = opened_store(place, model, create=False, read_only=True)
    assert isinstance(chosen, ModelFolder)  # no encoder was given
    with closing(store), store.snapshot() as state:
        yield state, chosen


def local_sources(paths: Sequence[str]) -> list[Path]:
    """The files and folders that PATHs name, all there; addresses and indexes are refused."""
    from milepost.documents.folders import refuse_index
    from milepost.index.places import local_path

    sources = [local_path(path) for path in paths]
    for source in sources:
        if not source.exists():
            raise errors.missing_file(source)
        refuse_index(source)
    return sources


def check_recognition(ocr: Ocr | None) -> None:
    """Refuse ``--ocr`` without its extra, before anybody waits for a text."""
    if ocr not in (None, "never"):
        from milepost.documents.recognition import check_installed

        check_installed()


def served_index(
    options: SearchOptions,
    place: IndexPlace | None,
    *,
    create: bool,
    read_only: bool,
    takes_uploads: bool,
) -> tuple[Index, Path]:
    """The index at a place, or that of the PATHs in the cache; and its folder.

    In the cache, that of a server that takes uploads has these too, which no other command shows.
    """
    if place is None:
        return cached_index(options, "-served" if takes_uploads else "")
    return options.open_index(place, create=create, read_only=read_only), local_folder(place)
