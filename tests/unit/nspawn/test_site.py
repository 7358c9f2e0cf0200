"""Site of the lab, derived from the environment file alone."""

from ipaddress import IPv4Network

from sandbox.nspawn import from_environment
from sandbox.nspawn.machine import hardware
from sandbox.nspawn.machine.node import LabNode
from sandbox.nspawn.network.bridges import interface, mac
from sandbox.nspawn.site import CLOUD, INTERNET, ONPREM, Machine, instance, plan


def test_the_sandbox_environment() -> None:
    site = from_environment.site("sandbox")
    nodes = {node.name: node for node in site.nodes}
    assert set(nodes) == {"ctl01", "db01", "login01", "nfs01", "gw01", "mlops01", "dgx01", "dgx02", "awsgw"}
    assert [nic.addresses for nic in nodes["gw01"].nics] == [("10.20.0.1/16",), ("198.51.100.10/24",)]
    assert [nic.bridge for nic in nodes["awsgw"].nics] == [CLOUD, INTERNET]
    assert nodes["dgx02"].address == "10.20.1.12"
    assert nodes["dgx02"].routes == ("default via 10.20.0.1",)
    assert nodes["dgx02"].gpus == 8
    assert nodes["nfs01"].disks == ("/export",)
    assert site.operators == ("10.20.0.254", "10.60.0.254")
    assert {bridge.name for bridge in site.bridges} == {ONPREM, CLOUD, INTERNET}


def test_without_a_link_there_is_no_internet() -> None:
    site = plan(
        IPv4Network("10.1.0.0/16"), IPv4Network("10.2.0.0/16"), None, (Machine("gw", "10.1.0.1", gateway=True),)
    )
    assert {bridge.name for bridge in site.bridges} == {ONPREM, CLOUD}
    assert [node.name for node in site.nodes] == ["gw"]
    assert site.nodes[0].routes == ("default via 10.1.0.254",)


def test_an_instance_has_its_ec2_host_name_and_reaches_its_metadata() -> None:
    node = instance("i-0abc", "10.60.0.5", IPv4Network("10.60.0.0/16"), "ami-1", 8)
    assert node.hostname == "ip-10-60-0-5"
    assert node.routes == ("default via 10.60.0.1", "169.254.169.254/32 dev eth0")
    assert node.address == "10.60.0.5"


def test_addresses_are_fixed_and_interfaces_fit_the_kernel() -> None:
    assert mac("lab", "n1", 0) == mac("lab", "n1", 0) != mac("lab", "n1", 1)
    assert mac("x").startswith("02:") and len(mac("x").split(":")) == 6
    names = [interface(name, 0) for name in ("ctl01", "i-0123456789abcdef0", "i-0123456789abcdef1", "image-builder")]
    assert len(set(names)) == 4
    assert all(len(name) <= 15 for name in names)


def test_gpus_are_device_nodes_that_are_created_at_each_boot() -> None:
    node = LabNode("n", (), gpus=2)
    assert hardware.device_nodes(node).splitlines() == [
        "c /dev/nvidia0 0666 root root - 195:0",
        "c /dev/nvidia1 0666 root root - 195:1",
        "c /dev/nvidiactl 0666 root root - 195:255",
        "c /dev/nvidia-uvm 0666 root root - 511:0",
    ]
