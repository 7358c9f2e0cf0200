"""Role users: accounts on every host of both sites, from the environment's list of users, and an LDAP directory."""

from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.plan.network.host_role import EVERYWHERE, HostRole

#: File in the secrets folder with the directory's bind password; the operator writes it if anonymous queries are
#: refused.
SECRET = "directory-password"


def user_account_variables(environment: Environment) -> dict[str, Any]:
    """Return the role `users`' variables, for on-prem hosts and for images of cloud nodes. No secrets."""
    directory = _directory(environment)
    if not directory:
        return {}
    # Images contain no secrets: cloud nodes query the directory anonymously; with a bind password they use no
    # directory.
    return {"users_directory": directory, "landbridge_image_directory": {} if "bind_dn" in directory else directory}


def home_server_account_variables(environment: Environment) -> dict[str, Any]:
    """Return the home server's variables: only this host can create the home of a new directory user."""
    directory, home = environment.hosts.directory, environment.storage.home
    if directory is None or not directory.groups or not isinstance(home, NfsHome):
        return {}
    return {"users_homes_of_groups": list(directory.groups), "users_homes_root": home.export}


def _directory(environment: Environment) -> dict[str, Any]:
    settings = environment.hosts.directory
    if settings is None:
        return {}
    schema = "rfc2307" if settings.members == "names" else "rfc2307bis"
    variables: dict[str, Any] = {
        "uris": list(settings.uris),
        "base": settings.base,
        "schema": schema,
        "min_uid": settings.min_uid,
    }
    variables |= {"groups": list(settings.groups), "key_attribute": settings.key_attribute or ""}
    variables |= {"bind_dn": settings.bind_dn} if settings.bind_dn else {}
    return variables | ({"ca_certificate": settings.ca_certificate} if settings.ca_certificate else {})


ROLE = HostRole(
    variables={
        EVERYWHERE: lambda site: user_account_variables(site.environment),
        "nfs_server": lambda site: home_server_account_variables(site.environment),
    }
)
