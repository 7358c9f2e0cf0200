"""Recording of an environment's AWS graph, without an engine or an emulated AWS: `python -m bench.graph ENV|FILE`."""

import gc
import sys
from pathlib import Path
from typing import Any

from landbridge.environment import find_environment
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.program import program_of

ANSWERS = {
    "aws:index/getCallerIdentity:getCallerIdentity": {
        "accountId": "123456789012",
        "arn": "arn:aws:iam::123456789012:root",
    },
    "aws:index/getPartition:getPartition": {"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws"},
}
ENDPOINT_SERVICE = "aws:ec2/getVpcEndpointService:getVpcEndpointService"


class Preview:
    """Mocks that create no resource and return fixed answers for AWS's data sources."""

    def create(self, token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{name}-id", inputs

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if token == ENDPOINT_SERVICE:
            name = arguments["serviceName"]
            return {"id": name, "serviceName": name, "availabilityZones": []}
        return ANSWERS[token]


def main() -> int:
    """Print the number of resources."""
    # All objects live until the process ends: a collection after the recording would free nothing.
    gc.disable()
    name = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
    program, stack, config = program_of(Path(name) if name.endswith(".yaml") else find_environment(name))
    graph = record(program, stack=stack, config=config, backing=Preview(), preview=True)
    print(len(graph.nodes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
