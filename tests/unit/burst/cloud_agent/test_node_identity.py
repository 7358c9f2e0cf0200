"""Name of a cloud node, read from a real metadata service."""

import functools
import http.client
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.burst.cloud_agent.cloud_node import identity, spot_instance


def test_a_node_takes_the_name_at_its_launch_index_or_of_its_own_tag(
    cloud: EmulatorProcess,
    ec2: Any,
    stack: Stack,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = spot_instance(ec2, stack)
    source = ("127." + instance["PrivateIpAddress"].partition(".")[2], 0)

    def opened(request: Any, timeout: float) -> Any:
        import urllib.request

        class From(urllib.request.HTTPHandler):
            def http_open(self, request: Any) -> Any:
                return self.do_open(functools.partial(http.client.HTTPConnection, source_address=source), request)

        return urllib.request.build_opener(From).open(request, timeout=timeout)

    monkeypatch.setattr(identity.urllib.request, "urlopen", opened)
    monkeypatch.setattr(identity, "METADATA", f"http://{cloud.imds}/latest")
    token = identity.token()
    tags = "landbridge:node", "landbridge:nodes"
    assert identity.own_name(token, *tags) == "p5-8"
    ec2.create_tags(Resources=[instance["InstanceId"]], Tags=[{"Key": "landbridge:node", "Value": "by-hand"}])
    assert identity.own_name(token, *tags) == "by-hand"
    assert identity.own_name(token, "no-tag", "none-either") is None
