"""Streaming parser of EC2's responses about instances: only the needed fields of each instance are kept in memory.

botocore builds a tree of the whole text: for 1,000 instances 0.6 s instead of 0.25, and 12 MB that the process keeps.
"""

import re
from datetime import datetime
from typing import Any
from xml.parsers import expat

#: Fields of an instance by their path in its description.
FIELDS = {
    ("instanceId",): "InstanceId",
    ("instanceState", "name"): "State",
    ("privateIpAddress",): "PrivateIpAddress",
    ("subnetId",): "SubnetId",
    ("instanceType",): "InstanceType",
    ("instanceLifecycle",): "InstanceLifecycle",
    ("launchTime",): "LaunchTime",
    ("amiLaunchIndex",): "AmiLaunchIndex",
    ("tagSet", "item", "key"): "Key",
    ("tagSet", "item", "value"): "Value",
}
#: The largest elements without such fields: 40 of 45 kB for a node with 32 network interfaces.
_UNREAD = re.compile(
    rb"<(networkInterfaceSet|blockDeviceMapping|groupSet|metadataOptions|cpuOptions|productCodes)>.*?</\1>", re.DOTALL
)


def read(body: bytes) -> dict[str, Any]:
    """Return `Instances` and, if there is another page, `NextToken`; instances have botocore's form. Raises
    expat.ExpatError."""
    reader = _Reader()
    reader.parse(_UNREAD.sub(b"", body))
    next_page = {"NextToken": reader.token} if reader.token else {}
    return {"Instances": reader.instances, **next_page}


class _Reader:
    def __init__(self) -> None:
        self.instances: list[dict[str, Any]] = []
        self.token = ""
        self._instance: dict[str, Any] | None = None
        self._path: list[str] = []
        self._base = 0  # depth of the instance's element
        self._field = ""
        self._text = ""

    def parse(self, body: bytes) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.CharacterDataHandler = self._characters
        parser.EndElementHandler = self._end
        parser.Parse(body, True)

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        path = self._path
        path.append(name)
        self._text = ""
        if self._instance is not None:
            self._field = FIELDS.get(tuple(path[self._base :]), "")
        elif name == "item" and path[-2] == "instancesSet":
            self._instance, self._base = {"Tags": []}, len(path)
        elif name == "nextToken":
            self._field = "NextToken"

    def _characters(self, text: str) -> None:
        if self._field:
            self._text += text

    def _end(self, _name: str) -> None:
        if self._field:
            self._set(self._field, self._text)
            self._field = ""
        self._path.pop()
        if self._instance is not None and len(self._path) < self._base:
            self.instances.append(self._instance)
            self._instance = None

    def _set(self, field: str, text: str) -> None:
        if self._instance is None:
            self.token = text
        elif field == "Key":
            self._instance["Tags"].append({"Key": text, "Value": ""})
        elif field == "Value":
            self._instance["Tags"][-1]["Value"] = text
        elif field == "State":
            self._instance["State"] = {"Name": text}
        elif field == "LaunchTime":
            self._instance[field] = datetime.fromisoformat(text)
        else:
            self._instance[field] = int(text) if field == "AmiLaunchIndex" else text
