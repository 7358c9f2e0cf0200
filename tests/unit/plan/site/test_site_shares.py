"""Mounts of the site's nodes and login hosts, their health expectations, and mounts of cloud nodes."""

from typing import Any

import pytest

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.storage import cloud_mounts
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_cloud_site import BUILT
from tests.unit.plan.ansible.test_inventory import OUTPUTS
from tests.unit.rules.aws.rows_cloud_services import CLOUD

FILER = {"kind": "nfs", "host": "filer", "export": "/vol/sets", "mount": "/sets"}
FAST = {"kind": "lustre", "source": "10.20.9.1@o2ib:/fast", "mount": "/fast", "networks": "o2ib(ib0)"}
SLOW = {"kind": "lustre", "source": "10.20.9.5@tcp:/slow", "mount": "/slow", "networks": "tcp(eth0)"}


def planned(**storage: Any) -> dict[str, Any]:
    return inventory(environment({("storage", key): value for key, value in storage.items()}))


def test_nodes_and_login_hosts_mount_the_site_shares() -> None:
    client = {"mirror": "https://mirror.example.org/lustre/"}
    data = planned(site_shares={"sets": FILER, "fast": FAST, "slow": SLOW}, lustre_client=client)
    mounts = data["all"]["vars"]["nfs_client_mounts"]
    assert mounts[1:] == [
        {"server": "filer", "export": "/vol/sets", "mount": "/sets", "options": "vers=4.2,hard,nosuid,nodev,nconnect=4"}
    ]
    # Site shares are not in the image of cloud nodes.
    assert data["all"]["vars"]["landbridge_cloud_mounts"] == mounts[:1]
    group = data["lustre_client"]
    assert {"dgx01", "login01"} <= set(group["hosts"]) and not {"nfs01", "ctl01"} & set(group["hosts"])
    assert group["vars"] == {
        "lustre_client_mounts": [
            {"source": "10.20.9.1@o2ib:/fast", "mount": "/fast", "options": "noatime,flock,nosuid,nodev"},
            {"source": "10.20.9.5@tcp:/slow", "mount": "/slow", "options": "noatime,flock,nosuid,nodev"},
        ],
        "lustre_client_networks": "o2ib(ib0),tcp(eth0)",
        "lustre_client_packages": [],
        "lustre_client_repository": {"uris": client["mirror"], "suites": "./", "components": "", "signed_by": ""},
    }
    expected = data["_meta"]["hostvars"]["dgx01"]["node_health_expected"]["mounts"]
    assert expected == ["/home", "/sets", "/fast", "/slow"]


def test_lustre_servers_may_connect_to_their_clients_over_tcp() -> None:
    source = "10.20.9.1@tcp:172.16.0.9@tcp1,10.20.9.3@o2ib:/fast"
    shares = {"fast": {**FAST, "source": source}, "slow": {**FAST, "source": "10.9.9.9@o2ib:/slow", "mount": "/slow"}}
    (rule,) = firewall_rules(environment({("storage", "site_shares"): shares}))["lustre_client"]
    assert (rule.protocol, rule.ports, rule.sources) == ("tcp", ("988",), ("10.20.0.0/16", "172.16.0.9/32"))
    assert "lustre_client" not in firewall_rules(environment({("storage", "site_shares"): {"fast": FAST}}))


def test_a_site_without_lustre_has_no_lustre_client() -> None:
    """Check that no Lustre client is installed or expected if no file system needs it (A#723)."""
    group = planned(site_shares={"sets": FILER})["lustre_client"]
    assert group == {"hosts": [], "vars": {}}


def test_an_image_has_the_lustre_client_if_nodes_mount_lustre_and_a_source_is_set() -> None:
    scratch, client = {"kind": "fsx_lustre"}, {"packages": ["lustre-client"], "mirror": "https://mirror.example.org/l/"}
    lustre = planned(cloud_scratch=scratch, lustre_client=client)["all"]["vars"]["landbridge_cloud_lustre"]
    assert lustre["lustre_client_packages"] == ["lustre-client"]
    assert lustre["lustre_client_repository"]["uris"] == "https://mirror.example.org/l/"
    for storage in ({"cloud_scratch": scratch}, {"lustre_client": client}):
        assert "landbridge_cloud_lustre" not in planned(**storage)["all"]["vars"]


@pytest.mark.parametrize("home_permitted", [True, False])
def test_cloud_nodes_mount_the_file_systems_in_aws_and_home_if_permitted(home_permitted: bool) -> None:
    storage = {
        "home": {"kind": "efs", "on_cloud_nodes": home_permitted},
        "cloud_scratch": {"kind": "fsx_lustre"},
        "cloud_shares": {"files": {"kind": "efs", "mount": "/files"}},
    }
    site = environment({**CLOUD, ("storage",): storage})
    assert cloud_mounts(site) == (*(["home"] if home_permitted else []), "cloud_scratch", "files")


def test_login_hosts_in_aws_mount_the_file_systems_of_jobs_except_lustre() -> None:
    home = BUILT.file_systems["home"]
    others = {
        "files": home.model_copy(update={"source": "fs-2.efs.us-east-1.amazonaws.com:/", "mount": "/files"}),
        "cloud_scratch": home.model_copy(
            update={"kind": "fsx_lustre", "type": "lustre", "source": "fs-3@tcp:/abc", "mount": "/scratch"}
        ),
    }
    others["over-tls"] = home.model_copy(
        update={
            "type": "efs",
            "source": "fs-4:/",
            "options": "tls,iam,accesspoint=fsap-4,_netdev",
            "mount": "/over-tls",
        }
    )
    built = BUILT.model_copy(update={"file_systems": {"home": home, **others}})
    mounts = inventory(environment(CLOUD), built)["all"]["vars"]["nfs_client_mounts"]
    assert [mount["mount"] for mount in mounts] == ["/home", "/files", "/over-tls"]
    assert mounts[2] == {
        "server": "fs-4",
        "export": "/",
        "mount": "/over-tls",
        "options": "tls,iam,accesspoint=fsap-4,_netdev,nosuid,nodev",
        "type": "efs",
    }
    assert mounts[1] == {
        "server": "fs-2.efs.us-east-1.amazonaws.com",
        "export": "/",
        "mount": "/files",
        "options": "nfsvers=4.1,hard,nosuid,nodev",
    }
    # On-prem hosts do not mount them through the link.
    on_site = inventory(environment(), built.model_copy(update={"services": None, "link": OUTPUTS.link}))
    assert [mount["mount"] for mount in on_site["all"]["vars"]["nfs_client_mounts"]] == ["/home"]
