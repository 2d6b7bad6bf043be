"""Files in object storage: ``s3://``, ``gs://`` and ``az://`` addresses as sources.

In:      an address.
Out:     the objects below it (``ObjectFile``: address, size, signature), and their bytes.
Refuses: to know of texts, formats or indexes, and to import obstore before a bucket is opened.
"""

from milepost.objects.address import ObjectAddress as ObjectAddress
from milepost.objects.address import is_address as is_address
from milepost.objects.buckets import Bucket as Bucket
from milepost.objects.buckets import ObjectFile as ObjectFile
from milepost.objects.buckets import bucket as bucket
from milepost.objects.buckets import download as download
from milepost.objects.downloads import Downloads as Downloads
