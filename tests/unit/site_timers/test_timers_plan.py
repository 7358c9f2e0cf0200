"""Timers in the plan: words and keys of each host, no change without them, and agreement of the roles with the programs."""

import base64
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Template

from landbridge import yaml_text
from landbridge.acceptance.rung_job import retest_rungs, rung_words
from landbridge.acceptance.site import SiteError
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.host_access import ForcedCommand, forced_command
from landbridge.ops.netcheck.collect import link_hosts, request_of
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.aws.access.launch_policy import compare_training
from landbridge.plan.site.firewall import firewall_variables
from landbridge.plan.site.link.expectations import link_expectations
from tests.unit.core.samples import ROOT, changed, environment
from tests.unit.ops.netcheck.records import CHANGES, STACK_OUTPUTS

TIMERS: dict[DataPath, Any] = {
    ("onprem", "services", "monitoring"): "mlops01",
    ("observability",): {"timers": {"health_minutes": 7}},
}


def host_variables(site: Environment) -> dict[str, dict[str, Any]]:
    return dict(inventory(site)["_meta"]["hostvars"])


def test_without_the_key_or_a_monitoring_host_nothing_is_planned() -> None:
    for changes in ({}, {("observability",): {"timers": {}}}):
        names = {name for variables in host_variables(environment(changes)).values() for name in variables}
        assert not [name for name in names if name.startswith(("host_access", "site_timers", "landbridge_access"))]


def test_each_host_answers_its_own_words_and_only_the_first_controller_asks() -> None:
    hosts = host_variables(environment(TIMERS))
    words = {name: set(variables.get("host_access_words", {})) for name, variables in hosts.items()}
    assert {name: each for name, each in words.items() if each} == {
        "ctl01": {"rung"},
        "gw01": {"link"},
        "dgx01": {"facts", "samples", "reset", "reboot"},
        "dgx02": {"facts", "samples", "reset", "reboot"},
    }
    assert {name for name, variables in hosts.items() if "site_timers_timers" in variables} == {"ctl01"}
    keys = {name: variables.get("landbridge_access_keys") for name, variables in hosts.items()}
    assert keys["dgx01"] == ["/etc/landbridge/timers/nodes.pub"] and keys["ctl01"] == []
    assert keys["gw01"] == ["/etc/landbridge/timers/gateways.pub"]
    assert {name for name, each in hosts.items() if each.get("host_access_from") == ["10.20.0.11"]} == set(keys) - {
        name for name, each in words.items() if not each
    }
    assert hosts["dgx01"]["slurm_adopt_exempt_users"] == ["landbridge-access"]
    assert set(hosts["ctl01"]["site_timers_hosts"]) == {"dgx01", "dgx02", "gw01"}


def test_accounts_have_the_key_that_their_pass_needs() -> None:
    timers = {timer["name"]: timer for timer in host_variables(environment(TIMERS))["ctl01"]["site_timers_timers"]}
    seen = {name: (timer["user"], timer["key"], timer["minutes"]) for name, timer in timers.items()}
    assert seen == {
        "health": ("slurm", "nodes", 7),
        "idle": ("slurm", "nodes", 10),
        "link": ("landbridge-link", "gateways", 15),
        "cost": ("slurm", "", 60),
    }


def test_a_timer_compares_the_ledger_with_sagemaker_if_it_is_a_place_and_may_read_its_jobs_only() -> None:
    place = {("mlops", "sagemaker"): {}}
    timers = {
        timer["name"]: timer
        for timer in host_variables(environment({**TIMERS, **place}))["ctl01"]["site_timers_timers"]
    }
    assert timers["sagemaker"] == {
        "name": "sagemaker",
        "minutes": 5,
        "user": "slurm",
        "key": "",
        "words": ["sagemaker", "sync"],
        "journal": True,
        "credentials_file": "/etc/landbridge/aws-credentials",
    }
    context = ArnContext("test", "aws", "us-east-1", "111122223333")
    actions = {action for statement in compare_training(context) for action in statement["Action"]}
    assert actions == {"sagemaker:ListTrainingJobs", "sagemaker:DescribeTrainingJob", "sagemaker:ListTags"}
    assert identity_args(environment({**TIMERS, **place})).compares_training
    for without in (TIMERS, place, {**TIMERS, **place, ("aws", "pools"): []}):
        chosen = environment(without)
        names = [timer["name"] for timer in host_variables(chosen)["ctl01"].get("site_timers_timers", [])]
        assert "sagemaker" not in names and not identity_args(chosen).compares_training


#: Data class whose bucket has a replica.
REPLICA: dict[DataPath, Any] = {("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-west-2"}}}


def test_a_timer_archives_the_models_of_each_class_with_a_replica_and_an_account_of_its_own() -> None:
    site = environment({**TIMERS, **REPLICA})
    timers = {timer["name"]: timer for timer in host_variables(site)["ctl01"]["site_timers_timers"]}
    assert timers["archive"] == {
        "name": "archive",
        "minutes": 60,
        "user": "landbridge-archive",
        "key": "",
        "words": [
            *("model", "archive", "--class", "internal", "--tracking-uri", "https://mlops01:5000"),
            *("--trust", "/etc/landbridge/tls/ca.pem"),
        ],
        "server": "mlflow",
        "credentials_file": "/etc/landbridge/aws-credentials-model-archive",
        "python": "timers-archive",
        "memory": "3G",
    }
    identity = identity_args(site)
    assert identity.archived == ("internal",) and identity.hosts["archive"] == ("ctl01",)
    clear = {("mlops", "mlflow"): {"tls": False}}
    onprem = {("data_classes", "internal"): {"sites": ["onprem"]}, ("storage", "data_hub", "classes"): {}}
    for without in (TIMERS, REPLICA, {**TIMERS, **REPLICA, **clear}, {**TIMERS, **onprem}):
        chosen = environment(without)
        names = [timer["name"] for timer in host_variables(chosen)["ctl01"].get("site_timers_timers", [])]
        assert "archive" not in names and "archive" not in identity_args(chosen).hosts
        assert identity_args(chosen).archived == ()


def test_each_server_of_a_class_with_a_replica_has_an_archive_and_one_of_on_prem_data_has_none() -> None:
    classes = {name: {"replica_region": "us-west-2"} for name in ("internal", "partner")}
    accounts = {name: {"users": ["alice"], "data_class": name} for name in ("internal", "partner", "restricted")}
    site = environment(
        {
            **TIMERS,
            ("data_classes", "partner"): {"sites": ["onprem", "aws"]},
            ("storage", "data_hub", "classes"): classes,
            ("scheduler", "accounts"): accounts,
        }
    )
    timers = host_variables(site)["ctl01"]["site_timers_timers"]
    archives = {timer["name"]: (timer["words"][3], timer["server"]) for timer in timers if "archive" in timer["name"]}
    assert archives == {
        "archive": ("internal", "mlflow"),
        "archive-mlflow-partner": ("partner", "mlflow-partner"),
    }


def test_the_archive_has_credentials_of_its_own_role_only() -> None:
    sources = {"files": "/etc/landbridge/aws-credentials-model-archive", "host": ""}
    for source, file in sources.items():
        site = environment({**TIMERS, **REPLICA, ("onprem", "aws_credentials"): source})
        timers = {timer["name"]: timer for timer in host_variables(site)["ctl01"]["site_timers_timers"]}
        assert timers["archive"]["credentials_file"] == file


def test_the_unit_of_the_archive_has_its_account_its_environment_and_its_credentials() -> None:
    variables = host_variables(environment({**TIMERS, **REPLICA}))["ctl01"]
    template = Template((ROOT / "ansible/roles/site_timers/templates/timer.service.j2").read_text())
    values = {**variables, "site_timers_root": "/opt/landbridge", "site_timers_textfiles": "/metrics"}
    units = {
        timer["name"]: template.render(item=[timer, "service"], ansible_managed="", **values)
        for timer in variables["site_timers_timers"]
    }
    lines = units["archive"].splitlines()
    assert {
        "User=landbridge-archive",
        "Environment=AWS_SHARED_CREDENTIALS_FILE=/etc/landbridge/aws-credentials-model-archive",
        "LoadCredential=mlflow-password:/etc/landbridge/timers/mlflow-password",
        "Environment=TMPDIR=/var/tmp",
        "MemoryMax=3G",
        "ReadWritePaths=/var/lib/landbridge-timers/landbridge-archive /metrics",
    } <= set(lines)
    (start,) = (line for line in lines if line.startswith("ExecStart="))
    assert start.startswith(
        "ExecStart=/opt/landbridge/timers-archive/bin/python -I -B -m landbridge.cli.main model archive "
    )
    assert start.endswith(" --metrics /metrics/landbridge-timer-archive.prom")
    # The other passes are as before.
    assert "MemoryMax=1G" in units["cost"] and "TMPDIR" not in units["cost"]
    assert "/opt/landbridge/timers/bin/python" in units["cost"] and "AWS_SHARED" not in units["cost"]


def test_ssh_from_the_first_controller_is_open_beside_operators() -> None:
    site = environment({**TIMERS, ("hosts",): {"firewall": {"mode": "enforce", "operators": ["10.99.0.0/24"]}}})
    assert "10.20.0.11/32" in firewall_variables(site)["hardening_ssh_sources"]


def test_a_gateway_has_the_request_that_netcheck_would_send() -> None:
    site = environment({**CHANGES, **TIMERS, ("onprem", "services", "monitoring"): "ctl01"})
    hosts = inventory(site, STACK_OUTPUTS)["_meta"]["hostvars"]
    planned = json.loads(base64.b64decode(hosts["gw01"]["host_access_words"]["link"][-1]))
    expected = link_expectations(site, STACK_OUTPUTS)
    gateway = next(host for host in link_hosts(site, expected, ()) if host.gateway is not None)
    assert planned == request_of(gateway, expected, ()) and planned["paths"]


def test_the_words_of_the_program_are_those_of_the_plan_and_its_forms_fit_the_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "ansible/roles/host_access/files"))
    program = import_module("host_access.words")
    hosts = host_variables(environment(TIMERS))
    assert {word for variables in hosts.values() for word in variables.get("host_access_words", {})} == set(
        program.FORMS
    )
    for rung in retest_rungs():
        assert program.parse(f"rung dgx01 {rung.name}", program.FORMS).arguments == ("dgx01", rung.name)


def test_a_pass_of_a_timer_uses_no_operators_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "access.json"
    file.write_text('{"account": "landbridge-access", "known_hosts": "/etc/known", "port": 22}')
    assert forced_command({}) is None
    monkeypatch.setenv("LANDBRIDGE_HOST_ACCESS", str(file))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x")
    access = forced_command()
    assert access == ForcedCommand("landbridge-access", "/etc/known", 22, "/run/credentials/x/key")
    site = environment({**CHANGES, **TIMERS, ("onprem", "services", "monitoring"): "ctl01"})
    gateway, controller = link_hosts(site, link_expectations(site, STACK_OUTPUTS), ())
    assert gateway.words[-1].startswith("landbridge-access@")
    assert "StrictHostKeyChecking=yes" in gateway.words and gateway.word == "link"
    assert (controller.name, controller.words, controller.is_root) == ("ctl01", (), False)


def test_a_rung_is_started_on_a_node_of_the_site_in_its_reservation_only(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.test.yaml"
    file.write_text(changed(TIMERS))
    words = rung_words(file, "dgx01", "driver")
    assert words[0] == "srun" and "--nodelist=dgx01" in words and "--reservation=landbridge-health-dgx01" in words
    for node, rung in (("dgx09", "driver"), ("ctl01", "driver"), ("dgx01", "training"), ("p5-0", "driver")):
        with pytest.raises(SiteError):
            rung_words(file, node, rung)


def test_the_accounts_of_the_roles_are_those_of_the_plan() -> None:
    defaults = yaml_text.load((ROOT / "ansible/roles/site_timers/defaults/main.yml").read_text())
    variables = host_variables(environment(TIMERS))["ctl01"]
    assert defaults["site_timers_account"] == variables["site_timers_account"] == variables["host_access_account"]
    assert defaults["site_timers_folder"] == variables["site_timers_folder"]
