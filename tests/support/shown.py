"""What is read of a file, as one line."""

from milepost.documents import read_bytes


def shown(data: bytes, name: str) -> str:
    return " ".join(read_bytes(data, name).text.split())
