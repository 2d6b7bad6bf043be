"""The server of object storage, which is started once for all folders."""

from support.s3 import moto, s3

__all__ = ["moto", "s3"]
