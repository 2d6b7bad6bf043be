"""Read and write ``landmark.json``: how a checkpoint reads text.

``config.json`` describes the network, but neither the token that closes a sentence nor the window
sizes of training. For a folder without this file, the tokenizer's special tokens are used.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from milepost.encoder.engine.manifest import SENTENCES
from milepost.encoder.engine.schema import check_schema
from milepost.errors import ModelError
from milepost_train.settings import CHECKED, Amount, Count

READING = "landmark.json"
SCHEMA = 2
_LATER = ("granularity", "context", "context_layers", "others", "verdicts")

_RENEW = (
    "milepost train CONFIG --out FOLDER; or, in that file, rename opening to bos_token and add "
    f'"schema": {SCHEMA}'
)


@dataclass(frozen=True, slots=True, config=CHECKED)
class Reading:
    """How sentences become windows of tokens.

    Attributes:
        bos_token: first token of a window; empty for none.
        own_sentence: in the last layer a landmark attends to its own sentence only.
        context: numbers of a landmark's context vector, see ``LandmarkEncoder``; 0 for none.
        context_layers, others, verdicts: see ``LandmarkEncoder``.
        granularity: what a landmark closes: a sentence, or a number of tokens.
        transformers: use the network of ``transformers`` even if Milepost has one.
        window, left, right, longest: as in the manifest; None for sizes that fit the network.
    """

    bos_token: str
    landmark: str
    own_sentence: bool = False
    context: Amount = 0
    context_layers: Count = 1
    others: Literal["", "half"] = ""
    verdicts: bool = False
    granularity: int | Literal["sentences"] = SENTENCES
    bidirectional: bool = False
    transformers: bool = False
    window: Annotated[int, Field(ge=3)] | None = None
    left: Amount | None = None
    right: Amount | None = None
    longest: Count | None = None
    query_prefix: str = ""

    def write(self, folder: Path) -> None:
        """Write ``landmark.json``."""
        usual = asdict(Reading(self.bos_token, self.landmark))
        # As in files written before these fields existed.
        said = {n: v for n, v in asdict(self).items() if n not in _LATER or v != usual[n]}
        text = json.dumps({"schema": SCHEMA, **said}, indent=1, ensure_ascii=False) + "\n"
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
        return Reading(**settings)
    except ValidationError as error:
        faults = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
        raise ModelError(f"{path}: {faults}", hint) from error
    except (AttributeError, OSError, ValueError, TypeError) as error:
        raise ModelError(f"{path} cannot be read: {error}", hint) from error
