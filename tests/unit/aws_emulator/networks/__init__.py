"""Tests of the emulated AWS: networks."""
