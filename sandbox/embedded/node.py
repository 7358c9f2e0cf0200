"""A cloud node of the simulated Slurm: finds its name in its instance's tags, registers, and stays until it is ended.

python -m sandbox.embedded.node <slurm.sock>      with SANDBOX_INSTANCE_ADDRESS and AWS_EC2_METADATA_SERVICE_ENDPOINT
"""

import http.client
import json
import os
import socket
import sys
import time
from urllib.parse import urlsplit

TAG = "landbridge:node"


class Metadata:
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


def main() -> int:
    metadata = Metadata(os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"], os.environ["SANDBOX_INSTANCE_ADDRESS"])
    deadline = time.monotonic() + 120
    while (name := metadata.get(f"tags/instance/{TAG}")) is None:  # given right after the launch
        if time.monotonic() > deadline:
            print(f"no tag {TAG} within two minutes", file=sys.stderr)
            return 1
        time.sleep(0.1)
    about = {"register": name, "address": metadata.get("local-ipv4"), "instance": metadata.get("instance-id")}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps(about).encode() + b"\n")
        while connection.recv(4096):  # the open connection is the node's heartbeat
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
