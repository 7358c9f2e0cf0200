"""Tests of instances that end, fail or have no node."""
