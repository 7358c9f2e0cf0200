"""Model folders on disk: read, verified and signed."""

from landbridge.models.files.verify import ModelRefusal, VerifiedModel, verify_folder

__all__ = ["ModelRefusal", "VerifiedModel", "verify_folder"]
