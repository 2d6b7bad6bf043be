"""Read and write ``landmark.json``: how a checkpoint reads text.

``config.json`` describes the network, but neither the token that closes a sentence nor the window
sizes of training. For a folder without this file, the tokenizer's special tokens are used.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from milepost.encoder.engine.manifest import LEAST, SENTENCES, Granularity, is_size
from milepost.encoder.engine.schema import check_schema
from milepost.errors import ModelError

READING = "landmark.json"
SCHEMA = 2

_RENEW = (
    "milepost train CONFIG --out FOLDER; or, in that file, rename opening to bos_token and add "
    f'"schema": {SCHEMA}'
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How sentences become windows of tokens.

    Attributes:
        bos_token: first token of a window; empty for none.
        landmark: token at the end of each sentence.
        own_sentence: in the last layer a landmark attends to its own sentence only.
        context: numbers of a landmark's context vector, see ``LandmarkEncoder``; 0 for none.
        context_layers, others, verdicts: see ``LandmarkEncoder``.
        granularity: what a landmark closes: a sentence, or a number of tokens.
        bidirectional: a causal network attends to both sides.
        transformers: use the network of ``transformers`` even if Milepost has one.
        window, left, right, longest: as in the manifest; None for sizes that fit the network.
        query_prefix: prefix of every question.
    """

    bos_token: str
    landmark: str
    own_sentence: bool = False
    context: int = 0
    context_layers: int = 1
    others: str = ""
    verdicts: bool = False
    granularity: Granularity = SENTENCES
    bidirectional: bool = False
    transformers: bool = False
    window: int | None = None
    left: int | None = None
    right: int | None = None
    longest: int | None = None
    query_prefix: str = ""

    def write(self, folder: Path) -> None:
        """Write ``landmark.json``."""
        said = {"schema": SCHEMA, **asdict(self)}
        if self.granularity == SENTENCES:  # as in files written before the field existed
            del said["granularity"]
        if not self.context:
            del said["context"], said["context_layers"]
        for name in ("others", "verdicts"):
            if not said[name]:
                del said[name]
        text = json.dumps(said, indent=1, ensure_ascii=False) + "\n"
        (folder / READING).write_text(text, encoding="utf-8")


def read_reading(folder: Path) -> Reading | None:
    """Read ``landmark.json``; None if the folder has no such file.

    Raises:
        ModelError: the file is damaged, of another schema, or holds unknown fields or sizes that
            cannot be used.
    """
    path = folder / READING
    if not path.is_file():
        return None
    hint = "correct it, or remove it to read the folder by its tokenizer's own special tokens"
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        check_schema(path, settings.pop("schema", 1), SCHEMA, _RENEW)  # schema 1 lacks the key
        unknown = set(settings) - {field.name for field in fields(Reading)}
        if unknown:
            raise ModelError(f"{path} has unknown fields: {', '.join(sorted(unknown))}", hint)
        every = settings.get("granularity", SENTENCES)
        if every != SENTENCES and not (type(every) is int and every > 0):
            raise ModelError(
                f"{path}: {every!r} is not a granularity", f'a number of tokens, or "{SENTENCES}"'
            )
        sizes = {name: settings[name] for name in LEAST if settings.get(name) is not None}
        wrong = [name for name, size in sizes.items() if not is_size(size, LEAST[name])]
        if wrong:
            raise ModelError(f"{path} has no usable {', '.join(wrong)}", hint)
        return Reading(**settings)
    except (AttributeError, OSError, ValueError, TypeError) as error:
        raise ModelError(f"{path} cannot be read: {error}", hint) from error
