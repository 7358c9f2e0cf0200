"""Transfer of datasets between a folder of the site and the bucket of their data class."""

from landbridge.live.datasets.check import check_folder, check_objects
from landbridge.live.datasets.collect import Collection, collect, unreferenced
from landbridge.live.datasets.content_store import ContentStore
from landbridge.live.datasets.ledger import TransferLedger
from landbridge.live.datasets.listing import DatasetVersion, absent, find_manifest, size_of, versions
from landbridge.live.datasets.scan import SourceFile, scan
from landbridge.live.datasets.stage import Staged, bytes_to_read, stage
from landbridge.live.datasets.upload import Uploaded, upload

__all__ = [
    "Collection",
    "ContentStore",
    "DatasetVersion",
    "SourceFile",
    "Staged",
    "TransferLedger",
    "Uploaded",
    "absent",
    "bytes_to_read",
    "check_folder",
    "check_objects",
    "collect",
    "find_manifest",
    "scan",
    "size_of",
    "stage",
    "unreferenced",
    "upload",
    "versions",
]
