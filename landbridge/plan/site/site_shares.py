"""On-prem file systems of nodes and login hosts: variables of the roles nfs_client and lustre_client."""

from typing import Any

from landbridge.environment import Environment, SiteLustre, SiteNfs


def site_nfs_mounts(environment: Environment) -> list[dict[str, Any]]:
    """Return the NFS mounts for the role nfs_client; empty without a site."""
    return [
        {"server": share.host, "export": share.export, "mount": share.mount, "options": share.options}
        for share in environment.storage.site_shares.values()
        if isinstance(share, SiteNfs) and environment.onprem is not None
    ]


def site_lustre(environment: Environment) -> tuple[SiteLustre, ...]:
    """Return the site's Lustre file systems; empty without a site."""
    shares = environment.storage.site_shares.values() if environment.onprem is not None else ()
    return tuple(share for share in shares if isinstance(share, SiteLustre))


def site_mount_points(environment: Environment) -> list[str]:
    """Return the mount points of the site's file systems on an on-prem node."""
    return [share.mount for share in environment.storage.site_shares.values() if environment.onprem is not None]


def lustre_variables(environment: Environment) -> dict[str, Any]:
    """Return the role lustre_client's variables; empty without Lustre. LNet has one list of networks for all file
    systems.
    """
    shares = site_lustre(environment)
    if not shares:
        return {}
    return {
        **client_variables(environment),
        "lustre_client_mounts": [
            {"source": share.source, "mount": share.mount, "options": share.options} for share in shares
        ],
        "lustre_client_networks": ",".join(dict.fromkeys(share.networks for share in shares if share.networks)),
    }


def image_variables(environment: Environment) -> dict[str, Any]:
    """Return the Lustre client variables of the cloud node image; empty unless cloud nodes mount Lustre and a client is
    known.
    """
    has_lustre = environment.storage.lustre_in_aws is not None
    if not has_lustre or not environment.storage.lustre_client.known:
        return {}
    return {"landbridge_cloud_lustre": client_variables(environment)}


def client_variables(environment: Environment) -> dict[str, Any]:
    """Return the Lustre client's packages and their repository."""
    client = environment.storage.lustre_client
    variables: dict[str, Any] = {"lustre_client_packages": list(client.packages)}
    if client.mirror is not None:
        variables["lustre_client_repository"] = {
            "uris": client.mirror,
            "suites": client.suites,
            "components": client.components or "",
            "signed_by": client.key or "",
        }
    return variables
