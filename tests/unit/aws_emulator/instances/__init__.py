"""Tests of the emulated AWS: instances."""
