"""Fixture of the stand-ins of Slurm's commands."""

from tests.unit.burst.slurm.commands import commands

__all__ = ("commands",)
