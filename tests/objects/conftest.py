"""A server of the S3 protocol for the tests of this folder."""

from support.s3 import moto, s3

__all__ = ["moto", "s3"]
