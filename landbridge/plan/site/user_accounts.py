"""User accounts on every host of both sites: the environment's list of users, and an LDAP directory."""

from typing import Any

from landbridge.environment import Environment, NfsHome

#: The file of the secrets folder that the operator writes, where the directory does not answer strangers.
SECRET = "directory-password"


def user_account_variables(environment: Environment) -> dict[str, Any]:
    """Return the role `users`' variables, for on-prem hosts and for images of cloud nodes. No secrets."""
    found = _directory(environment)
    if not found:
        return {}
    # No secret goes into an image: nodes in AWS ask a directory that answers anybody inside the site, or know no names.
    return {"users_directory": found, "landbridge_image_directory": {} if "bind_dn" in found else found}


def home_server_account_variables(environment: Environment) -> dict[str, Any]:
    """Return the home server's variables: it alone can create the home of a new directory user."""
    directory, home = environment.hosts.directory, environment.storage.home
    if directory is None or not directory.groups or not isinstance(home, NfsHome):
        return {}
    return {"users_homes_of_groups": list(directory.groups), "users_homes_root": home.export}


def _directory(environment: Environment) -> dict[str, Any]:
    own = environment.hosts.directory
    if own is None:
        return {}
    schema = "rfc2307" if own.members == "names" else "rfc2307bis"
    found: dict[str, Any] = {"uris": list(own.uris), "base": own.base, "schema": schema, "min_uid": own.min_uid}
    found |= {"groups": list(own.groups), "key_attribute": own.key_attribute or ""}
    found |= {"bind_dn": own.bind_dn} if own.bind_dn else {}
    return found | ({"ca_certificate": own.ca_certificate} if own.ca_certificate else {})
