"""An embedding endpoint as a model: ``http://HOST:PORT/v1#MODEL``.

A folder in the cache stands for it, as for any model: a manifest with the width of its vectors, the
shipped tokenizer, and ``endpoint.json`` with the address. No other folder can name an endpoint: a
model folder from somewhere else sends nothing anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from milepost.engine.manifest import Manifest
from milepost.errors import InputError, ModelError

if TYPE_CHECKING:
    from milepost.chat import EmbeddingEndpoint

FILE = "endpoint.json"
KEYS = ("MILEPOST_EMBEDDING_KEY", "OPENAI_API_KEY")
"""Variables that may hold the endpoint's key, the first that is set."""

_HINT = "http://HOST:PORT/v1#MODEL"
_TRIES = 4
_TOKENIZER = "tokenizer.json"
_PROBE = "How wide are the vectors?"


@dataclass(frozen=True, slots=True)
class Remote:
    """An endpoint, its model, and what stands in front of questions and sentences.

    Attributes:
        url: the address, with or without ``/embeddings``.
        model: the model's name there.
        query_prefix, document_prefix: as the model was trained with them.
    """

    url: str
    model: str
    query_prefix: str = ""
    document_prefix: str = ""

    @staticmethod
    def parse(name: str) -> Remote:
        """Read ``URL#MODEL``, with ``&query=PREFIX&document=PREFIX`` behind it where needed.

        Raises:
            InputError: the model has no name, or something else stands behind it.
        """
        url, _, rest = name.partition("#")
        model, _, options = rest.partition("&")
        prefixes = parse_qs(options, keep_blank_values=True)
        if not model or set(prefixes) - {"query", "document"}:
            raise InputError(f"{url} needs the name of an embedding model, and nothing else", _HINT)
        of = {key: values[-1] for key, values in prefixes.items()}
        return Remote(url.rstrip("/"), model, of.get("query", ""), of.get("document", ""))

    def endpoint(self) -> EmbeddingEndpoint:
        """What sends texts there, with the key from the environment.

        Raises:
            InputError: the address is not one, or holds a password.
        """
        from milepost.chat import EmbeddingEndpoint  # costs a tenth of a second

        variable = next((name for name in KEYS if os.environ.get(name)), KEYS[0])
        key = os.environ.get(variable, "").strip()
        return EmbeddingEndpoint(self.url, self.model, key, key_name=variable, tries=_TRIES)

    @property
    def fingerprint(self) -> str:
        """What an index remembers: the model and its prefixes, not where it runs."""
        parts = ("endpoint", self.model, self.query_prefix, self.document_prefix)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def is_endpoint(name: str) -> bool:
    """Whether a model's name is an address."""
    return name.startswith(("http://", "https://"))


def endpoint_folder(name: str, folders: Path, tokenizer: Path) -> Path:
    """The folder that stands for an endpoint; the endpoint is asked when it is made.

    Args:
        name: see ``Remote.parse``.
        folders: where such folders are.
        tokenizer: the shipped model's.

    Raises:
        InputError: the name is not an address with a model.
        ModelError: the endpoint gives no usable vector, or the folder cannot be written.
        MilepostError: the endpoint cannot be reached.
    """
    remote = Remote.parse(name)
    endpoint = remote.endpoint()
    key = "\0".join((remote.url, remote.fingerprint))
    folder = folders / hashlib.sha256(key.encode()).hexdigest()[:24]
    if (folder / FILE).is_file():
        return folder
    from milepost.chat import Unanswered

    try:
        dimensions = int(endpoint.embed([_PROBE]).shape[1])
    except Unanswered as error:
        raise ModelError(f"{endpoint.url}: {error}", f"check the model's name: {_HINT}") from error
    try:
        _write(folder, remote, tokenizer, dimensions)
    except OSError as error:
        raise ModelError(
            f"{folders} cannot be written: {error.strerror or error}", "another MILEPOST_CACHE"
        ) from error
    return folder


def remote_of(folder: Path, folders: Path) -> Remote | None:
    """The endpoint that a folder stands for; None for every folder that is not one of ``folders``.

    Raises:
        ModelError: it is damaged.
    """
    if folder.parent != folders:
        return None
    try:
        return Remote(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(f"{folder / FILE} is damaged", f"remove {folder}") from error


def _write(folder: Path, remote: Remote, tokenizer: Path, dimensions: int) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(prefix=".", dir=folder.parent))
    try:
        shutil.copyfile(tokenizer, draft / _TOKENIZER)
        (draft / FILE).write_text(json.dumps(asdict(remote), indent=1) + "\n", encoding="utf-8")
        manifest = Manifest(
            remote.model, remote.fingerprint, dimensions, query_prefix=remote.query_prefix
        )
        manifest.write(draft)
        with suppress(FileExistsError):  # another process was faster
            draft.replace(folder)
    except OSError:
        if not (folder / FILE).is_file():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
