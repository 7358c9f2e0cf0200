"""docs/how-to/add-metal-later.md: the file that it shows is valid, and follows from `startup`."""

import json
import re
import textwrap
from pathlib import Path

from landbridge import yaml_text
from landbridge.environment.file.load import load_text
from landbridge.findings import Severity
from landbridge.rules import check
from tests.unit.core.samples import ROOT, shipped

PAGE = ROOT / "docs" / "how-to" / "add-metal-later.md"


def after() -> str:
    match = re.search(r"<!-- the file after -->\n *```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return textwrap.dedent(match[1])


def test_the_file_after_the_move_is_good() -> None:
    findings = check(load_text(after(), Path("stacks/Pulumi.acme.yaml")))
    assert [str(finding) for finding in findings if finding.severity is Severity.ERROR] == []


def test_pools_users_and_accounts_stay_as_they_are() -> None:
    environment, before = load_text(after(), Path("stacks/Pulumi.acme.yaml")).environment, shipped("startup")
    assert environment is not None and environment.onprem is not None and before.onprem is None
    assert environment.aws.services is None and environment.link is not None
    assert environment.aws.pools == before.aws.pools and environment.aws.cidr == before.aws.cidr
    assert (environment.users, environment.scheduler.accounts) == (before.users, before.scheduler.accounts)
    assert (environment.budget.monthly_usd, environment.budget.hard) == (before.budget.monthly_usd, before.budget.hard)


def test_both_at_once_are_refused_and_the_page_is_named() -> None:
    body = yaml_text.load(after())
    services = {"zone": "use1-az4", "access": {"public_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 alice"]}}
    body["config"]["landbridge:environment"]["aws"]["services"] = services
    findings = {
        finding.rule: finding for finding in check(load_text(json.dumps(body), Path("stacks/Pulumi.acme.yaml")))
    }
    assert "add-metal-later.md" in (findings["controller-location"].fix or "")


def test_it_is_found_from_the_index() -> None:
    assert "how-to/add-metal-later.md" in (ROOT / "docs" / "index.md").read_text()
