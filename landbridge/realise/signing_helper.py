"""Credential helper of IAM Roles Anywhere (aws_signing_helper), built once from its Go module, for all hosts.

The program is linked statically, so that it runs with any C library; keys in PKCS #11 tokens, which need shared
libraries, do not work with it. `python -m landbridge.realise.signing_helper [MACHINE]` prints the program's path; MACHINE is the
machine type of the hosts, as `uname -m` prints it.
"""

import sys
from pathlib import Path

from landbridge.catalog.aws.signing_helper import signing_helper
from landbridge.realise import go_program
from landbridge.realise.go_program import GoProgram, print_path


def program() -> GoProgram:
    """Return the helper's Go module and the way to build it."""
    facts = signing_helper()
    return GoProgram(
        name="aws_signing_helper",
        module=facts.module,
        version=facts.version,
        sum=facts.sum,
        go=facts.go,
        key="aws.iam.anywhere.helper",
        cache="signing-helper",
        options=("-tags", "netgo,osusergo"),
        link_flags="-s -w -linkmode external -extldflags -static",
        version_flags=f"-X {facts.module}/cmd.Version={facts.version.removeprefix('v')}",
        needs_c=True,
    )


def build(machine: str = "") -> Path:
    """Build the helper unless it is in the cache, and return its path. Raises BuildError. `machine`: see go_program."""
    return go_program.build(program(), machine)


if __name__ == "__main__":
    sys.exit(print_path(program(), *sys.argv[1:2]))
