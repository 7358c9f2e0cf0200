"""Tests of the emulated AWS: stores."""
