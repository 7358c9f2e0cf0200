"""Dataset: an immutable, content-addressed set of files with a name and a version. Pure: no files and no network."""

from landbridge.datasets.keys import (
    FILES,
    GC_MARKER,
    MANIFESTS,
    OBJECTS,
    PUTS,
    files_prefix,
    manifest_key,
    object_key,
    version_of_key,
)
from landbridge.datasets.layout import FilePiece, PlannedBlock, plan_blocks
from landbridge.datasets.manifest import (
    BlockSlice,
    DatasetBlock,
    DatasetContent,
    DatasetFile,
    DatasetManifest,
    ManifestError,
)
from landbridge.datasets.names import (
    DATASET_FILE,
    DESCRIBING,
    MANIFEST_FILE,
    case_collisions,
    name_fault,
    parse_reference,
    path_fault,
)

__all__ = [
    "DATASET_FILE",
    "DESCRIBING",
    "FILES",
    "GC_MARKER",
    "MANIFESTS",
    "MANIFEST_FILE",
    "OBJECTS",
    "PUTS",
    "BlockSlice",
    "DatasetBlock",
    "DatasetContent",
    "DatasetFile",
    "DatasetManifest",
    "FilePiece",
    "ManifestError",
    "PlannedBlock",
    "case_collisions",
    "files_prefix",
    "manifest_key",
    "name_fault",
    "object_key",
    "parse_reference",
    "path_fault",
    "plan_blocks",
    "version_of_key",
]
