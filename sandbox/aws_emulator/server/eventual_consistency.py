"""Eventual consistency: the next few calls do not find a new resource.

EC2 and IAM answer from copies that learn of a change later than the one that made it. Here that is counted in calls instead of
seconds: a resource is missing from the first `reads` answers that should have it.
Source: EC2 API Reference, "Eventual consistency"; IAM User Guide, "Changes that I make are not always immediately visible".
"""

import re
import threading
from xml.etree import ElementTree

from sandbox.aws_emulator.server.errors import CloudError

#: Ids of EC2 by their prefix, and EC2's word for one that it does not find.
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
#: A filter without a match is no error: the list is shorter.
_FILTERED = re.compile(r"(?:^|&)Filter\.\d+\.Value\.\d+=[^&]*")
_MAKES = ("Create", "Allocate")


class ConsistencyDelay:
    """Resources that calls do not find yet, with the number of calls."""

    def __init__(self) -> None:
        self.reads = 0
        self._left: dict[str, int] = {}
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Make every resource visible."""
        with self._lock:
            self.reads = 0
            self._left.clear()
            self._seen.clear()

    def refusal(self, service: str, action: str, request: str) -> CloudError | None:
        """Return the error of a call that names a resource that is not visible yet."""
        if not self._left or service not in ("ec2", "iam"):
            return None
        if service == "ec2":
            for found in _ID.finditer(_FILTERED.sub("", request)):
                if self._take(found[0]):
                    return CloudError(f"{WORDS[found[1]]}.NotFound", f"The ID '{found[0]}' does not exist")
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
            named = set(_NAMED.findall(request)) if service == "iam" else set()
            made = {found[0] for found in _ID.finditer(text)} if service == "ec2" else named
            with self._lock:
                new = {one for one in made - self._seen if service == "iam" or one not in request}
                self._seen |= made
                self._left |= dict.fromkeys(new, self.reads)
            return body
        return self._without(text) if service == "ec2" and action.startswith("Describe") and self._left else body

    def _without(self, text: str) -> bytes:
        root = ElementTree.fromstring(text)
        if root.tag.startswith("{"):
            ElementTree.register_namespace("", root.tag[1:].partition("}")[0])
        for group in root:
            for item in list(group):
                if self._take(_own_id(group.tag, item)):
                    group.remove(item)
        return ElementTree.tostring(root)

    def _take(self, one: str) -> bool:
        with self._lock:
            if one not in self._left:
                return False
            self._left[one] -= 1
            if self._left[one] <= 0:
                del self._left[one]
            return True


def _own_id(group: str, item: ElementTree.Element) -> str:
    """Return the id of an item of a list; the list's name tells which of its ids is its own."""
    ids = [(child.tag.rpartition("}")[2].removesuffix("Id").lower(), child.text or "") for child in item]
    known = [(word, text) for word, text in ids if _ID.fullmatch(text)]
    named = [(word, text) for word, text in known if word in group.rpartition("}")[2].lower()]
    return max(named, key=lambda one: len(one[0]))[1] if named else next((text for _, text in known), "")
