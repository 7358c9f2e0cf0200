"""S3 server of the site's object store (versitygw), built once from its Go module, for all hosts.

`python -m landbridge.realise.object_store [MACHINE]` prints the program's path; MACHINE is the hosts' machine type, as `uname -m` prints it.
"""

import sys
from pathlib import Path

from landbridge.catalog.object_store import object_store_facts
from landbridge.realise import go_program
from landbridge.realise.go_program import GoProgram, print_path


def program() -> GoProgram:
    """Return the server's Go module and the way to build it: without C, so that it runs with any C library."""
    facts = object_store_facts()
    return GoProgram(
        name=facts.program,
        module=facts.module,
        version=facts.version,
        sum=facts.sum,
        go=facts.go,
        key="storage.object_store.program",
        cache="object-store",
        package=facts.package,
        version_flags=f"-X main.Version={facts.version}",
        seconds=facts.build_seconds,
    )


def build(machine: str = "") -> Path:
    """Build the server unless it is in the cache, and return its path. Raises BuildError. `machine`: see go_program."""
    return go_program.build(program(), machine)


if __name__ == "__main__":
    sys.exit(print_path(program(), *sys.argv[1:2]))
