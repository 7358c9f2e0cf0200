"""A cloud node of the simulated Slurm: finds its name, registers, and stays until it is ended.

python -m sandbox.embedded.node <slurm.sock>      with SANDBOX_INSTANCE_ADDRESS and AWS_EC2_METADATA_SERVICE_ENDPOINT
"""

import http.client
import json
import os
import socket
import sys
from urllib.parse import urlsplit

from landbridge.hostlist import expand

#: The nodes of one launch call; an instance is the one at its launch index. The other names a machine started by hand.
NODES, NODE = "landbridge:nodes", "landbridge:node"


class MetadataClient:
    """IMDSv2. On the loopback an instance calls from 127.b.c.d, the end of its own address."""

    def __init__(self, endpoint: str, address: str) -> None:
        self._host = urlsplit(endpoint).netloc
        self._source = ("127." + address.partition(".")[2], 0)
        token = self._call("PUT", "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "21600"})
        if token is None:
            raise RuntimeError(f"no token from {endpoint}")
        self._token = token

    def get(self, path: str) -> str | None:
        """The value at /latest/meta-data/`path`; None when there is none (yet)."""
        return self._call("GET", f"/latest/meta-data/{path}", {"X-aws-ec2-metadata-token": self._token})

    def _call(self, method: str, path: str, headers: dict[str, str]) -> str | None:
        connection = http.client.HTTPConnection(self._host, timeout=5, source_address=self._source)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            body = answer.read().decode()
            return body if answer.status == 200 else None
        finally:
            connection.close()


def own_name(metadata: MetadataClient) -> str | None:
    """Return the node of this instance: from its own tag, otherwise from its launch index."""
    if name := metadata.get(f"tags/instance/{NODE}"):
        return name
    nodes, index = metadata.get(f"tags/instance/{NODES}"), metadata.get("ami-launch-index")
    names = expand(nodes) if nodes else []
    return names[int(index)] if index and int(index) < len(names) else None


def main() -> int:
    metadata = MetadataClient(os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"], os.environ["SANDBOX_INSTANCE_ADDRESS"])
    name = own_name(metadata)
    if name is None:
        print(f"no tag {NODES} with a node for this instance", file=sys.stderr)
        return 1
    about = {"register": name, "address": metadata.get("local-ipv4"), "instance": metadata.get("instance-id")}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps(about).encode() + b"\n")
        while connection.recv(4096):  # the open connection is the node's heartbeat
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
