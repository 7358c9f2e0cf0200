"""Tests of the program that runs a pool's scripts on a node."""
