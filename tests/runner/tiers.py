"""Tiers of tests: their folders, their limits and how their tests share the processors."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.demo import machine


@dataclass(frozen=True)
class Tier:
    """Folder of tests, with the time in which at least one of its tests must end.

    `spread` is the distribution mode of pytest-xdist: `worksteal` spreads single tests, `loadfile` whole files, if the
    tests of a file share an expensive fixture; None runs one test after the other. `behind`: the tier computes; it runs at
    the same time as the others, with a small share of the processors. The others mostly wait, and run at the same time.
    `shares_state`: tests of a file depend on one another, so a failed test is repeated with its file. `uses_lab`: only one
    checkout at a time runs it. `has_deployment`: it alone uses the cluster of the fixture `deployment`. `processes`:
    number of processes unless it runs behind another tier, which has two at most.
    """

    name: str
    idle_minutes: float
    holds: str
    prepare: Callable[[], None] = lambda: None
    spread: str | None = None
    behind: bool = False
    shares_state: bool = False
    uses_lab: bool = False
    has_deployment: bool = False
    processes: int = 2

    def workers(self, *, behind: bool = False) -> list[str]:
        """Return pytest's arguments for its processes: more than two beside other tiers would starve the machines of the lab."""
        if self.spread is None:
            return []
        processes = min(self.processes, 2) if behind else self.processes
        # In the order of tests.runner.order, not by how many tests a file has.
        return [
            "-n",
            str(processes if (os.cpu_count() or 1) > 1 else 1),
            f"--dist={self.spread}",
            "--no-loadscope-reorder",
        ]


#: Tiers that start at the same time need the same engine and the same packages.
_PREPARATION = threading.Lock()


def _get_engine() -> None:
    """Get a missing Pulumi engine into the cache that the demonstration uses too."""
    from sandbox.pulumi_provider.engine.find import NoEngine, get_engine

    with _PREPARATION:
        engine = get_engine(lambda line: print(f"  engine: {line}", flush=True))
    if isinstance(engine, NoEngine):
        print(f"  {engine}", flush=True)


def _get_lab_packages() -> None:
    if machine.lab().able:
        from sandbox.nspawn.host import host_packages

        with _PREPARATION:
            host_packages.install(lambda line: print(f"  lab: {line}", flush=True))


def _get_both() -> None:
    _get_engine()
    _get_lab_packages()


TIERS = (
    Tier("unit", 35, "functions, and small programs on loopback", spread="worksteal", behind=True),
    # Its tests wait for Pulumi's engine: two processes used 60% of two cores.
    Tier(
        "graph",
        35,
        "resources that Pulumi creates",
        _get_engine,
        spread="loadfile",
        behind=True,
        shares_state=True,
        processes=3,
    ),
    # A file of the roles has a separate lab, or shares one with its folder. Files of e2e share the sandbox's lab and ports.
    Tier(
        "roles",
        35,
        "Ansible roles, on the lab's machines if there is a lab",
        _get_both,
        spread="loadfile",
        shares_state=True,
        uses_lab=True,
    ),
    Tier(
        "e2e",
        35,
        "the whole system, in the lab if there is one",
        _get_both,
        shares_state=True,
        uses_lab=True,
        has_deployment=True,
    ),
)
