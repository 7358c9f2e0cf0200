"""Cloud node of the simulated Slurm: reads its name from IMDS, registers, and runs until it is terminated.

python -m sandbox.embedded.node <slurm.sock>      with SANDBOX_INSTANCE_ADDRESS and AWS_EC2_METADATA_SERVICE_ENDPOINT
"""

import http.client
import json
import os
import socket
import sys
from urllib.parse import urlsplit

from landbridge.hostlist import expand

#: Tag with the nodes of one launch, of which an instance is the one at its launch index; and tag with the node of an
#: instance that an operator started.
NODES, NODE = "landbridge:nodes", "landbridge:node"


class MetadataClient:
    """Client of IMDSv2. On the loopback, an instance with address a.b.c.d calls from 127.b.c.d."""

    def __init__(self, endpoint: str, address: str) -> None:
        self._host = urlsplit(endpoint).netloc
        self._source = ("127." + address.partition(".")[2], 0)
        token = self._call("PUT", "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "21600"})
        if token is None:
            raise RuntimeError(f"no token from {endpoint}")
        self._token = token

    def get(self, path: str) -> str | None:
        """Return the value at /latest/meta-data/`path`; None if there is none (yet)."""
        return self._call("GET", f"/latest/meta-data/{path}", {"X-aws-ec2-metadata-token": self._token})

    def _call(self, method: str, path: str, headers: dict[str, str]) -> str | None:
        connection = http.client.HTTPConnection(self._host, timeout=5, source_address=self._source)
        try:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            body = response.read().decode()
            return body if response.status == 200 else None
        finally:
            connection.close()


def node_name(metadata: MetadataClient) -> str | None:
    """Return the node name of this instance: from its tag, otherwise from its launch index; None without either."""
    if name := metadata.get(f"tags/instance/{NODE}"):
        return name
    nodes, index = metadata.get(f"tags/instance/{NODES}"), metadata.get("ami-launch-index")
    names = expand(nodes) if nodes else []
    return names[int(index)] if index and int(index) < len(names) else None


def main() -> int:
    metadata = MetadataClient(os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"], os.environ["SANDBOX_INSTANCE_ADDRESS"])
    name = node_name(metadata)
    if name is None:
        print(f"no tag {NODES} with a node for this instance", file=sys.stderr)
        return 1
    registration = {"register": name, "address": metadata.get("local-ipv4"), "instance": metadata.get("instance-id")}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps(registration).encode() + b"\n")
        while connection.recv(4096):  # the open connection is the node's heartbeat
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
