"""cfn-lint's copy of the Service Authorization Reference: services, their actions, and the actions without a resource."""

import json
from collections.abc import Iterator
from importlib.resources import files

from landbridge.catalog.aws.access.iam import iam, iam_actions
from landbridge.catalog.files import names, package
from tests.unit.catalog.peers.compared import Compared


def cfn_lint_iam() -> Iterator[Compared]:
    """Yield every service, and every action of the services whose actions are in the catalogue."""
    listed = json.loads(files("cfnlint").joinpath("data", "AdditionalSpecs", "Policies.json").read_text())
    for service in sorted({*listed, *iam().services}):
        mine, theirs = service in iam().services, service in listed
        yield Compared("cfn-lint", service, "iam service", "known" if mine else None, "known" if theirs else None)
    for service in sorted(names(package(), "iam")):
        actions = iam_actions(service)
        assert actions is not None
        theirs = {action.lower(): described for action, described in listed[service]["Actions"].items()}
        none = {action.lower() for action in actions.none}
        ours = {action.lower() for action in actions.all()}
        for action in sorted({*ours, *theirs}):
            mine = None if action not in ours else "none" if action in none else "some"
            other = None if action not in theirs else "some" if theirs[action].get("Resources") else "none"
            yield Compared("cfn-lint", f"{service}:{action}", "resources", mine, other)
