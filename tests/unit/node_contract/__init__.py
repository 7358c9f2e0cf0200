"""Tests of the program that checks node images."""
