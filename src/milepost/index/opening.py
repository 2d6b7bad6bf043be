"""Open an index: a place and a model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from milepost._display import plain
from milepost._paths import expanded
from milepost._typed import typed
from milepost.encoder import Encoder, load
from milepost.encoder.engine.folder import MULTILINGUAL, packaged
from milepost.encoder.engine.precision import Arithmetic, checked
from milepost.errors import NotAnIndex
from milepost.index.facade import Index, Opened
from milepost.index.model_choice import choice_for, sample
from milepost.index.naming import Name
from milepost.index.store_opening import opened_store
from milepost.store import Store, erase_store
from milepost.store.address import IndexPlace, index_place, label
from milepost.types import Document


@typed
def open(
    place: str | os.PathLike[str] | None = None,
    *,
    model: Encoder | str | os.PathLike[str] | None = None,
    create: bool = True,
    read_only: bool = False,
    precision: Arithmetic | None = None,
) -> Index:
    """Open an index in a folder, on a server or in a bucket, or an empty one in memory.

    Args:
        place: folder of the index, or its address (``postgresql://HOST/NAME``, ``lance:///FOLDER``,
            ``lance+s3://BUCKET/PATH``); None for one in memory.
        model: an encoder, a shipped model's name or a model folder. None for the installed model
            that made the index; for a new one in a folder or in memory, for the installed model
            that reads the language of what is added first, else for the default.
        create: make the index where there is none.
        read_only: never write.
        precision: as in ``milepost.load``; an encoder that is given has its own.

    Raises:
        WrongType: an argument is of another type.
        InputError: ``precision`` is another word.
        NotAnIndex: the folder holds something else, or it is no folder but a document.
        WrongModel: the index was made by another model.
        NewerSchema: the index was made by a newer Milepost.
        OldSchema: the index was made by an older Milepost.
        StoreError: the folder cannot be read, or the server not be reached.
        MissingExtra: the driver of the server is not installed.
    """
    checked(precision)
    found = None if place is None else index_place(place)
    _refuse_document(found)
    opener = partial(_opened, place, precision=precision, read_only=read_only)
    # An index in memory, or in a folder, that is about to be made.
    new = found is None or (isinstance(found, Path) and not expanded(found).exists())
    new = new and model is None and not read_only and packaged(MULTILINGUAL) is not None
    return Index(*opener(model, create=create), partial(_suited, place, opener) if new else None)


def _opened(
    place: str | os.PathLike[str] | None,
    model: Encoder | str | os.PathLike[str] | None,
    *,
    precision: Arithmetic | None,
    create: bool,
    read_only: bool,
) -> Opened:
    store, chosen = opened_store(place, model, create=create, read_only=read_only)
    where = "in memory" if place is None else label(index_place(place))
    about = plain(f"{where}, {chosen.manifest.name}")
    if isinstance(chosen, Encoder):
        return store, chosen, about
    return store, partial(load, chosen.path, precision=precision), about


def _refuse_document(found: IndexPlace | None) -> None:
    if not isinstance(found, Path) or expanded(found).is_dir():
        return
    from milepost.documents.readers.formats import SUFFIXES

    if found.suffix.lower() in SUFFIXES:
        raise NotAnIndex(
            f"{found} has the name of a document, and an index is a folder",
            "milepost.open(), and add() of the document",
        )


def _suited(
    place: str | os.PathLike[str] | None,
    opener: Callable[..., Opened],
    empty: Store,
    sources: Sequence[Name | Document],
) -> Opened | None:
    """Make an empty index anew with the model that reads some sources; None if it has that."""
    paths = [os.fspath(source) for source in sources if not isinstance(source, Document)]
    texts = [source.text for source in sources if isinstance(source, Document)]
    choice = choice_for(sample(paths).files, texts)
    if choice.message:
        warnings.warn(choice.message.replace("--model ", "model="), stacklevel=4)
    if choice.model is None:
        return None
    empty.close()
    if place is not None:
        erase_store(place)
    return opener(choice.model, create=True)
