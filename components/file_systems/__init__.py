"""How each kind of shared file system is made, a file a kind: the middle of FileSystem."""

from components.file_systems.common import FileSystemContext, Made
from components.file_systems.efs import efs
from components.file_systems.lustre import lustre
from components.file_systems.openzfs import openzfs

__all__ = ["FileSystemContext", "Made", "efs", "lustre", "openzfs"]
