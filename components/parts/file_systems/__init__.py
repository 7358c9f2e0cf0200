"""Resources of each kind of shared file system, one module per kind."""

from components.parts.file_systems.common import FileSystemContext, FileSystemResource
from components.parts.file_systems.efs import efs
from components.parts.file_systems.lustre import lustre
from components.parts.file_systems.openzfs import openzfs

__all__ = ["FileSystemContext", "FileSystemResource", "efs", "lustre", "openzfs"]
