"""Alerts: each one fires for its fault and for no other, by the real promtool, and has a section that says what to do."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.hardware.xids import xids
from landbridge.catalog.observability.alerts import RUNBOOK, alert_rules, runbook_of
from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.observability.alerts import alert_groups, planned_alerts
from landbridge.plan.observability.objectives import RECORDED
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.plan.roles.prometheus import monitoring_variables
from tests.e2e.support.alert_faults import FAULTS, Fault
from tests.unit.core.samples import ROOT, environment
from tests.unit.observability.debian_programs import debian_program
from tests.unit.observability.serving_sample import served, served_in_aws

CASES = yaml_text.load((Path(__file__).parent / "alert_cases.yaml").read_text())
MONITORING = ("onprem", "services", "monitoring")


def monitored() -> Environment:
    return environment(
        {
            MONITORING: "mlops01",
            ("onprem", "services", "logs"): "mlops01",
            ("scheduler", "slurm", "version"): "26.05",
            ("observability",): {"timers": {}},
            **served_in_aws(),
        }
    )


def each_of(series: dict[str, str]) -> dict[str, str]:
    """Return the series, with eight for each one that has a #: the GPUs of a node, with the numbers 0 to 7."""
    return {name.replace("#", str(n)): text for name, text in series.items() for n in range(8 if "#" in name else 1)}


def promtool(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [debian_program("prometheus", "promtool"), *arguments], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_alert_has_a_fault_and_a_healthy_site_has_none(tmp_path: Path) -> None:
    assert list(CASES["faults"]) == list(alert_rules())
    site = monitored()
    rules = alert_groups(site, gpu_metrics_hosts(site))
    # The faults burn the budget of the link; the series of the other objectives are those of test_objectives.py.
    recorded = rules["groups"][0]
    recorded["rules"] = [rule for rule in recorded["rules"] if rule["labels"]["objective"] == "link"]
    (tmp_path / "rules.yml").write_text(json.dumps(rules))
    quiet = [{"alertname": name, "eval_time": "150m", "exp_alerts": []} for name in alert_rules()]
    tests = [{"name": "healthy", "interval": "1m", "input_series": series({}), "alert_rule_test": quiet}]
    for name, case in CASES["faults"].items():
        at = case.get("at", alert_rules()[name].minutes + 10)
        expected = {name, *case.get("also", ())}
        checks = [
            {"alertname": other, "eval_time": f"{at}m", "exp_alerts": [fired(other, case)] if other == name else []}
            for other in alert_rules()
            if other not in expected - {name}
        ]
        tests.append(
            {"name": name, "interval": "1m", "input_series": series(case["series"]), "alert_rule_test": checks}
        )
    # Without an order promtool evaluates groups in one of its own, and alerts may see series that were recorded a minute before.
    order = [group["name"] for group in rules["groups"]]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "group_eval_order": order, "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", "tests.yml")


SCENARIOS = yaml_text.load((Path(__file__).parent / "alert_scenarios.yaml").read_text())


def test_a_further_course_of_an_alert(tmp_path: Path) -> None:
    site = monitored()
    rules = alert_groups(site, gpu_metrics_hosts(site))
    (tmp_path / "rules.yml").write_text(json.dumps(rules))
    tests = []
    for title, case in SCENARIOS.items():
        checks = [
            {"alertname": case["alert"], "eval_time": f"{at}m", "exp_alerts": alerts}
            for alerts, times in (
                ([fired(case["alert"], case)] if "labels" in case else [], case.get("fires", ())),
                ([], case.get("silent", ())),
            )
            for at in times
        ]
        tests.append(
            {"name": title, "interval": "1m", "input_series": series(case["series"]), "alert_rule_test": checks}
        )
    order = [group["name"] for group in rules["groups"]]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "group_eval_order": order, "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", "tests.yml")


#: Ends of nodes in AWS as planned: the node leaves Slurm, its exporters stop, and its targets vanish later, at the latest after AwsTargetsOld.
VANISHED = {
    'landbridge_burst_ready_nodes{node="ctl01",pool="p5"}': "2x60 _x140",
    'up{job="node",node="p5-1",pool="p5",role="slurm_node",site="aws"}': "1x59 0x12 _x128",
    'up{job="node",node="p5-2",pool="p5",role="slurm_node",site="aws"}': "1x59 0x12 _x128",
    'up{job="dcgm",node="p5-1",pool="p5",role="slurm_node",site="aws"}': "1x59 0x12 _x128",
}


def test_a_node_that_ends_as_planned_raises_no_alert(tmp_path: Path) -> None:
    site = monitored()
    (tmp_path / "rules.yml").write_text(json.dumps(alert_groups(site, gpu_metrics_hosts(site))))
    checks = [
        {"alertname": name, "eval_time": f"{at}m", "exp_alerts": []}
        for name in ("AwsNodeMetricsAbsent", "NodeDown", "GpuMetricsAbsent", "NoHostMetrics", "ServiceHostDown")
        for at in (60, 62, 65, 70, 72, 75, 80, 100)
    ]
    tests = [{"name": "vanished", "interval": "1m", "input_series": series(VANISHED), "alert_rule_test": checks}]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", "tests.yml")


@pytest.mark.parametrize(("drained", "fires"), [(1, False), (2, True)])
def test_a_node_that_its_gpus_alert_names_is_no_second_alert(drained: int, fires: bool, tmp_path: Path) -> None:
    # Two of six nodes are on-prem; the health check drains the one with the hot GPU.
    site = monitored()
    (tmp_path / "rules.yml").write_text(json.dumps(alert_groups(site, gpu_metrics_hosts(site))))
    changes = {
        'slurm_nodes{instance="ctl01",job="slurm"}': "6x200",
        'slurm_nodes_drain{instance="ctl01",job="slurm"}': f"{drained}x200",
        'slurm_nodes_down{instance="ctl01",job="slurm"}': "0+0x200",
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-dgx01-0",gpu="0",node="dgx01"}': "93x200",
    }
    alert = fired("SlurmNodesUnusable", {"labels": {"instance": "ctl01", "job": "slurm"}})
    check = {"alertname": "SlurmNodesUnusable", "eval_time": "60m", "exp_alerts": [alert] if fires else []}
    tests = [{"name": "drained", "interval": "1m", "input_series": series(changes), "alert_rule_test": [check]}]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", "tests.yml")


#: A host of model servers in AWS from its start to its stop: wanted from minute 20 to 79, with exporters from minute 22 to 81.
POWERED = {
    'up{job="node",node="serve-az4-01",role="model_server",site="aws"}': "0x21 1x59 0x118",
    'landbridge_model_instance_wanted{host="serve-az4-01",node="gwm01"}': "0x19 1x59 0x120",
    'landbridge_log_last_entry_timestamp_seconds{host="serve-az4-01",node="mlops01"}': "0x21 1320+60x59 4920x118",
}
#: The same host, but the instance does not come up.
LOST = {**POWERED, 'up{job="node",node="serve-az4-01",role="model_server",site="aws"}': "0+0x200"}


@pytest.mark.parametrize(("changes", "times"), [(POWERED, ()), (LOST, (31, 50, 79))], ids=["stopped", "lost"])
def test_a_host_of_model_servers_in_aws_raises_an_alert_only_while_it_should_run(
    changes: dict[str, str], times: tuple[int, ...], tmp_path: Path
) -> None:
    site = monitored()
    (tmp_path / "rules.yml").write_text(json.dumps(alert_groups(site, gpu_metrics_hosts(site))))
    labels = {"job": "node", "node": "serve-az4-01", "role": "model_server", "site": "aws"}
    alert = fired("ModelHostDown", {"labels": labels})
    checks: list[dict[str, Any]] = [
        {"alertname": "ModelHostDown", "eval_time": f"{at}m", "exp_alerts": [alert] if at in times else []}
        for at in (5, 19, 25, 31, 50, 79, 85, 100, 195)
    ]
    checks += [
        {"alertname": name, "eval_time": f"{at}m", "exp_alerts": []}
        for name in ("ServiceHostDown", "NodeDown", "LogHostSilent", "AwsNodeMetricsAbsent", "ModelServiceDown")
        for at in (19, 31, 79, 100, 195)
        if changes is POWERED or name != "LogHostSilent"
    ]
    groups = ["services", "landbridge"]
    tests = [{"name": "power", "interval": "1m", "input_series": series(changes), "alert_rule_test": checks}]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "group_eval_order": groups, "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", "tests.yml")


def series(changes: dict[str, str]) -> list[dict[str, str]]:
    every = each_of(CASES["healthy"]) | each_of(changes)
    return [{"series": name, "values": values} for name, values in every.items()]


def fired(name: str, case: dict[str, Any]) -> dict[str, Any]:
    rule = alert_rules()[name]
    labels = {"severity": rule.severity, "owner": rule.owner, **case["labels"]}
    return {"exp_labels": labels, "exp_annotations": {"summary": rule.summary, "runbook": runbook_of(name)}}


@pytest.mark.parametrize("name", alert_rules())
def test_an_alert_uses_metrics_of_the_contract(name: str) -> None:
    assert metrics_contract().missing(alert_rules()[name].expression, frozenset(RECORDED)) == []


def test_an_xid_that_needs_an_action_fires_until_it_was_taken() -> None:
    selected = re.search(r'err_code=~"([\d|]+)"', alert_rules()["GpuXid"].expression)
    assert selected is not None
    needing = [str(number) for number, xid in xids().items() if xid.action in ("reset", "reboot", "repair")]
    assert selected[1].split("|") == needing


def test_every_alert_has_a_section_that_says_what_to_do() -> None:
    sections = re.findall(r"^### (\S+)\n\n(.+)", (ROOT / RUNBOOK).read_text(), re.MULTILINE)
    assert [name for name, _ in sections] == list(alert_rules())


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_section_of_an_alert_has_the_command_that_mends_an_injected_fault(fault: Fault) -> None:
    section = (ROOT / RUNBOOK).read_text().partition(f"### {fault.alert}\n")[2].partition("\n### ")[0]
    assert fault.runbook in section


def test_only_alerts_with_planned_metrics_are_used() -> None:
    old = environment({MONITORING: "mlops01", ("scheduler", "slurm", "version"): "24.11"})
    names = planned_alerts(old, gpu_metrics_hosts(old))
    assert "SlurmctldStopped" in names and not {"SlurmMetricsAbsent", "SlurmNodesUnusable"} & set(names)
    # Nodes in AWS have GPUs too.
    no_gpus = planned_alerts(environment({MONITORING: "mlops01", ("aws", "pools"): []}), ())
    assert "GpuXid" in names and no_gpus and not [name for name in no_gpus if name.startswith("Gpu")]
    assert planned_alerts(environment(), ()) == ()
    unserved = environment({MONITORING: "mlops01"})
    assert not {"ModelServiceDown", "ModelSlow", "ModelDrift", "CanaryUndecided"} & set(planned_alerts(unserved, ()))
    assert {"ModelServiceDown", "ModelSlow", "ModelDrift", "CanaryUndecided"} <= set(planned_alerts(monitored(), ()))
    in_aws = {"ModelHostDown", "ModelHostsUnread"}
    assert in_aws <= set(planned_alerts(monitored(), ()))
    at_site = environment({MONITORING: "mlops01", ("onprem", "services", "logs"): "mlops01", **served()})
    assert not in_aws & set(planned_alerts(at_site, ())) and "LogHostSilent" in planned_alerts(at_site, ())


def test_promtool_accepts_the_configuration(tmp_path: Path) -> None:
    variables = monitoring_variables(monitored())
    settings = json.loads(json.dumps(variables["prometheus_settings"]).replace("/etc/prometheus", str(tmp_path)))
    (tmp_path / "rules").mkdir()
    (tmp_path / "targets").mkdir()
    (tmp_path / "rules" / "landbridge.yml").write_text(json.dumps(variables["prometheus_rules"]))
    for job, groups in variables["prometheus_targets"].items():
        (tmp_path / "targets" / f"{job}.json").write_text(json.dumps(groups))
    for account in ("prometheus", "operator"):
        (tmp_path / f"{account}-password").write_text("x")
    text = json.dumps(settings).replace("/etc/landbridge/tls/ca.pem", str(tmp_path / "ca.pem"))
    (tmp_path / "ca.pem").write_text("")
    (tmp_path / "prometheus.yml").write_text(text)
    assert "SUCCESS" in promtool(tmp_path, "check", "config", "prometheus.yml")
