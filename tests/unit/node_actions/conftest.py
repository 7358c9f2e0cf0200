"""An emulated AWS for the downloads of nodes."""

from tests.unit.aws_emulator.conftest import cloud, emulator

__all__ = ["cloud", "emulator"]
