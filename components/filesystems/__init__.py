"""How each kind of shared file system is made, a file a kind: the middle of SharedFilesystem."""

from components.filesystems.common import Made, Site
from components.filesystems.efs import efs
from components.filesystems.lustre import lustre
from components.filesystems.openzfs import openzfs

__all__ = ["Made", "Site", "efs", "lustre", "openzfs"]
