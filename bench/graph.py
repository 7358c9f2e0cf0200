"""Record the AWS graph of an environment once, without an engine or an emulated AWS: `python -m bench.graph ENV|FILE`."""

import gc
import sys
from pathlib import Path
from typing import Any

from landbridge.environment import find_environment
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.recorder import program_of

ANSWERS = {
    "aws:index/getCallerIdentity:getCallerIdentity": {
        "accountId": "123456789012",
        "arn": "arn:aws:iam::123456789012:root",
    },
    "aws:index/getPartition:getPartition": {"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws"},
}


class Preview:
    """Mocks that create no resource and return fixed answers for AWS's data sources."""

    def create(self, token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{name}-id", inputs

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return ANSWERS[token]


def main() -> int:
    """Print how many resources there are."""
    named = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
    program, stack, config = program_of(Path(named) if named.endswith(".yaml") else find_environment(named))
    graph = record(program, stack=stack, config=config, backing=Preview(), preview=True)
    print(len(graph.nodes))
    # The process ends: to look through all that there is once more would free nothing.
    gc.freeze()
    return 0


if __name__ == "__main__":
    sys.exit(main())
