"""Eventual consistency: the next few calls do not find a new resource.

EC2 and IAM answer from replicas that receive a change with a delay. Here the delay is counted in calls instead of
seconds: a resource is missing from the first `reads` answers that should contain it. Source: EC2 API Reference,
"Eventual consistency"; IAM User Guide, "Changes that I make are not always immediately visible".
"""

import re
import threading
from xml.etree import ElementTree

from sandbox.aws_emulator.server.errors import CloudError

#: EC2's error code for an unknown id, by the prefix of the id.
WORDS = {
    "vpc": "InvalidVpcID",
    "subnet": "InvalidSubnetID",
    "sg": "InvalidGroup",
    "rtb": "InvalidRouteTableID",
    "igw": "InvalidInternetGatewayID",
    "eipalloc": "InvalidAllocationID",
    "tgw": "InvalidTransitGatewayID",
    "tgw-attach": "InvalidTransitGatewayAttachmentID",
    "cgw": "InvalidCustomerGatewayID",
    "vpn": "InvalidVpnConnectionID",
    "lt": "InvalidLaunchTemplateId",
    "vpce": "InvalidVpcEndpointId",
}
_ID = re.compile(rf"\b({'|'.join(sorted(WORDS, key=len, reverse=True))})-[0-9a-f]{{8,17}}\b")
_NAMED = re.compile(r"(?:^|&)((?:Role|InstanceProfile)Name=[^&]+)")
#: A filter without a match is not an error: the list is shorter.
_FILTERED = re.compile(r"(?:^|&)Filter\.\d+\.Value\.\d+=[^&]*")
_MAKES = ("Create", "Allocate")


class ConsistencyDelay:
    """Delay until calls find a new resource; holds the number of remaining calls of each resource."""

    def __init__(self) -> None:
        self.reads = 0
        self._remaining: dict[str, int] = {}
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Make every resource visible."""
        with self._lock:
            self.reads = 0
            self._remaining.clear()
            self._seen.clear()

    def refusal(self, service: str, action: str, request: str) -> CloudError | None:
        """Return the error of a call that names a resource that is not visible yet."""
        if not self._remaining or service not in ("ec2", "iam"):
            return None
        if service == "ec2":
            for match in _ID.finditer(_FILTERED.sub("", request)):
                if self._take(match[0]):
                    return CloudError(f"{WORDS[match[1]]}.NotFound", f"The ID '{match[0]}' does not exist")
            return None
        if not action.startswith(_MAKES):
            for name in _NAMED.findall(request):
                if self._take(name):
                    return CloudError("NoSuchEntity", f"{name} cannot be found.", 404)
        return None

    def answered(self, service: str, action: str, request: str, body: bytes) -> bytes:
        """Record new resources of an answer and remove those not visible yet from lists. Return the body to send."""
        if not self.reads or service not in ("ec2", "iam"):
            return body
        text = body.decode()
        if action.startswith(_MAKES):
            names = set(_NAMED.findall(request)) if service == "iam" else set()
            created = {match[0] for match in _ID.finditer(text)} if service == "ec2" else names
            with self._lock:
                new = {id_ for id_ in created - self._seen if service == "iam" or id_ not in request}
                self._seen |= created
                self._remaining |= dict.fromkeys(new, self.reads)
            return body
        return self._without(text) if service == "ec2" and action.startswith("Describe") and self._remaining else body

    def _without(self, text: str) -> bytes:
        root = ElementTree.fromstring(text)
        if root.tag.startswith("{"):
            ElementTree.register_namespace("", root.tag[1:].partition("}")[0])
        for group in root:
            for item in list(group):
                if self._take(_own_id(group.tag, item)):
                    group.remove(item)
        return ElementTree.tostring(root)

    def _take(self, id_: str) -> bool:
        with self._lock:
            if id_ not in self._remaining:
                return False
            self._remaining[id_] -= 1
            if self._remaining[id_] <= 0:
                del self._remaining[id_]
            return True


def _own_id(group: str, item: ElementTree.Element) -> str:
    """Return the id of an item of a list; the list's name shows which of the item's ids is its own."""
    ids = [(child.tag.rpartition("}")[2].removesuffix("Id").lower(), child.text or "") for child in item]
    known = [(word, text) for word, text in ids if _ID.fullmatch(text)]
    named = [(word, text) for word, text in known if word in group.rpartition("}")[2].lower()]
    return max(named, key=lambda pair: len(pair[0]))[1] if named else next((text for _, text in known), "")
