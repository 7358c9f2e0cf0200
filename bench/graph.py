"""Recording of an environment's AWS graph, without an engine or an emulated AWS: `python -m bench.graph ENV|FILE`."""

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
    """Print the number of resources."""
    name = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
    program, stack, config = program_of(Path(name) if name.endswith(".yaml") else find_environment(name))
    graph = record(program, stack=stack, config=config, backing=Preview(), preview=True)
    print(len(graph.nodes))
    # The process ends: a last garbage collection over all objects would free nothing.
    gc.freeze()
    return 0


if __name__ == "__main__":
    sys.exit(main())
