"""HTTP server that answers DescribeInstances with pages of generated instances, as large as those of EC2.

Source of the elements: EC2 API Reference, DescribeInstances (response of API version 2016-11-15).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

PAGE_SIZE = 1000  # MaxResults of DescribeInstances at most
_PAGE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
    "<requestId>b1a2c3d4-0000-4000-8000-000000000000</requestId><reservationSet>{reservations}</reservationSet>{next}"
    "</DescribeInstancesResponse>"
)
_RESERVATION = (
    "<item><reservationId>r-{number:017x}</reservationId><ownerId>123456789012</ownerId><groupSet/><instancesSet><item>"
    "{instance}</item></instancesSet></item>"
)
_INSTANCE = """
<instanceId>{id}</instanceId><imageId>ami-0a11ce5a9db0c5000</imageId><instanceState><code>16</code><name>running</name></instanceState>
<privateDnsName>ip-10-60-{third}-{fourth}.ec2.internal</privateDnsName><dnsName/><reason/><amiLaunchIndex>{index}</amiLaunchIndex>
<productCodes/><instanceType>p5.48xlarge</instanceType><launchTime>{launched}</launchTime>
<placement><availabilityZone>us-east-1a</availabilityZone><availabilityZoneId>use1-az4</availabilityZoneId>
<groupName>bench-p5</groupName><tenancy>default</tenancy></placement>
<monitoring><state>disabled</state></monitoring><subnetId>subnet-1</subnetId><vpcId>vpc-0a11ce5a9db0c5000</vpcId>
<privateIpAddress>10.60.{third}.{fourth}</privateIpAddress><sourceDestCheck>true</sourceDestCheck>
<groupSet><item><groupId>sg-0a11ce5a9db0c5000</groupId><groupName>p5</groupName></item></groupSet>
<architecture>x86_64</architecture><rootDeviceType>ebs</rootDeviceType><rootDeviceName>/dev/sda1</rootDeviceName>
<blockDeviceMapping><item><deviceName>/dev/sda1</deviceName><ebs><volumeId>vol-{number:017x}</volumeId><status>attached</status>
<attachTime>{launched}</attachTime><deleteOnTermination>true</deleteOnTermination></ebs></item></blockDeviceMapping>
<virtualizationType>hvm</virtualizationType><clientToken>{token}</clientToken><tagSet>{tags}</tagSet><hypervisor>xen</hypervisor>
<networkInterfaceSet>{interfaces}</networkInterfaceSet>
<iamInstanceProfile><arn>arn:aws:iam::123456789012:instance-profile/bench-node</arn><id>AIPA0123456789ABCDEF0</id></iamInstanceProfile>
<ebsOptimized>true</ebsOptimized><enaSupport>true</enaSupport><cpuOptions><coreCount>96</coreCount><threadsPerCore>2</threadsPerCore></cpuOptions>
<capacityReservationSpecification><capacityReservationPreference>open</capacityReservationPreference></capacityReservationSpecification>
<hibernationOptions><configured>false</configured></hibernationOptions>
<metadataOptions><state>applied</state><httpTokens>required</httpTokens><httpPutResponseHopLimit>1</httpPutResponseHopLimit>
<httpEndpoint>enabled</httpEndpoint><httpProtocolIpv6>disabled</httpProtocolIpv6><instanceMetadataTags>disabled</instanceMetadataTags></metadataOptions>
<enclaveOptions><enabled>false</enabled></enclaveOptions><bootMode>uefi-preferred</bootMode><platformDetails>Linux/UNIX</platformDetails>
<usageOperation>RunInstances</usageOperation><usageOperationUpdateTime>{launched}</usageOperationUpdateTime>
<privateDnsNameOptions><hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord>
<enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord></privateDnsNameOptions>
<maintenanceOptions><autoRecovery>default</autoRecovery></maintenanceOptions><currentInstanceBootMode>uefi</currentInstanceBootMode>
"""
_INTERFACE = """
<item><networkInterfaceId>eni-{number:017x}</networkInterfaceId><subnetId>subnet-1</subnetId><vpcId>vpc-0a11ce5a9db0c5000</vpcId>
<description/><ownerId>123456789012</ownerId><status>in-use</status><macAddress>0e:49:61:0f:c3:11</macAddress>
<privateIpAddress>10.60.{third}.{fourth}</privateIpAddress><privateDnsName>ip-10-60-{third}-{fourth}.ec2.internal</privateDnsName>
<sourceDestCheck>true</sourceDestCheck><groupSet><item><groupId>sg-0a11ce5a9db0c5000</groupId><groupName>p5</groupName></item></groupSet>
<attachment><attachmentId>eni-attach-{number:017x}</attachmentId><deviceIndex>{device}</deviceIndex><status>attached</status>
<attachTime>{launched}</attachTime><deleteOnTermination>true</deleteOnTermination><networkCardIndex>{card}</networkCardIndex></attachment>
<privateIpAddressesSet><item><privateIpAddress>10.60.{third}.{fourth}</privateIpAddress>
<privateDnsName>ip-10-60-{third}-{fourth}.ec2.internal</privateDnsName><primary>true</primary></item></privateIpAddressesSet>
<ipv6AddressesSet/><interfaceType>efa</interfaceType><operator><managed>false</managed></operator></item>
"""


@dataclass(frozen=True)
class Instance:
    """Running instance: its number, its index in its launch, its ClientToken, its launch time (ISO 8601) and tags."""

    number: int
    index: int
    token: str
    launched: str
    tags: dict[str, str]


@dataclass
class Pages:
    """Instances that the server describes, with `interfaces` network interfaces each; `sent`: bytes of its
    answers, and `calls` their number."""

    instances: list[Instance] = field(default_factory=list)
    interfaces: int = 1
    endpoint: str = ""
    sent: int = 0
    calls: int = 0

    def page(self, start: int, size: int) -> bytes:
        part, end = self.instances[start : start + size], start + size
        reservations = "".join(
            _RESERVATION.format(number=instance.number, instance=self._described(instance)) for instance in part
        )
        following = f"<nextToken>{end}</nextToken>" if end < len(self.instances) else ""
        return _PAGE.format(reservations=reservations, next=following).encode()

    def _described(self, instance: Instance) -> str:
        address = {"third": instance.number // 250, "fourth": 1 + instance.number % 250, "launched": instance.launched}
        tags = "".join(
            f"<item><key>{key}</key><value>{escape(value)}</value></item>" for key, value in instance.tags.items()
        )
        interfaces = "".join(
            _INTERFACE.format(number=32 * instance.number + card, card=card, device=min(card, 1), **address)
            for card in range(self.interfaces)
        )
        return _INSTANCE.format(
            id=f"i-{instance.number:017x}",
            number=instance.number,
            index=instance.index,
            token=instance.token,
            tags=tags,
            interfaces=interfaces,
            **address,
        )


@contextmanager
def serving(pages: Pages) -> Iterator[Pages]:
    """Serve the pages on a loopback port for the block; `endpoint` has the address. Other calls get an empty answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            query = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            action = query["Action"][0]
            start, size = int(query.get("NextToken", ["0"])[0]), int(query.get("MaxResults", [str(PAGE_SIZE)])[0])
            is_read = action == "DescribeInstances"
            healthy = "<instanceStatusSet/>" if action == "DescribeInstanceStatus" else ""
            body = pages.page(start, size) if is_read else f"<{action}Response>{healthy}</{action}Response>".encode()
            pages.sent, pages.calls = pages.sent + len(body), pages.calls + is_read
            self.send_response(200)
            self.send_header("Content-Type", "text/xml;charset=UTF-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    pages.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
