"""Courses of time of every alert: it fires while a fault lasts, ends after the repair, and does not fire at ordinary work."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.observability.alerts import alert_rules
from landbridge.catalog.observability.metrics import metrics_in
from landbridge.plan.observability.alerts import alert_groups
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from tests.unit.observability.test_alerts import CASES, each_of, fired, monitored, promtool

HEALTHY_SERIES = each_of(CASES["healthy"])
FILES = sorted((Path(__file__).parent / "alert_courses").glob("*.yaml"))
COURSES: dict[str, dict[str, Any]] = {
    name: course for file in FILES for name, course in yaml_text.load(file.read_text()).items()
}
#: Minutes of a course's healthy and repaired part, of a pause, and of units of PromQL.
HEALTHY, REPAIRED, PAUSE = 60, 240, 20
UNITS = {"m": 1, "h": 60, "d": 1440}


def test_every_alert_has_a_fault_that_lasts_and_ordinary_work() -> None:
    assert sorted(COURSES) == sorted(alert_rules())
    assert [name for name, course in COURSES.items() if not course.get("fault") or not course.get("ordinary")] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_alert_fires_while_its_fault_lasts_and_not_at_ordinary_work(file: Path, tmp_path: Path) -> None:
    site = monitored()
    groups = alert_groups(site, gpu_metrics_hosts(site))["groups"]
    files = []
    for name in yaml_text.load(file.read_text()):
        rules = _rules(groups, name)
        tests = [
            _lasting(name, rules),
            _pause(name),
            *(_ordinary(name, each) for each in COURSES[name]["ordinary"].items()),
        ]
        used = {metric for group in rules for rule in group["rules"] for metric in metrics_in(rule["expr"])}
        for test in tests:
            minutes = test.pop("minutes")
            present = {key: value for key, value in HEALTHY_SERIES.items() if key.partition("{")[0] in used}
            every = {key: re.sub(r"x\d+$", f"x{minutes}", value) for key, value in present.items()} | test.pop("series")
            test["input_series"] = [{"series": key, "values": value} for key, value in every.items()]
        (tmp_path / f"{name}-rules.json").write_text(json.dumps({"groups": rules}))
        document = {"rule_files": [f"{name}-rules.json"], "evaluation_interval": "1m", "tests": tests}
        document["group_eval_order"] = [group["name"] for group in rules]
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
        files.append(f"{name}.json")
    assert "SUCCESS" in promtool(tmp_path, "test", "rules", *files)


def _rules(groups: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the groups with one alert, with the recorded series of services and of the link, and with the alerts that it reads."""
    expression = alert_rules()[name].expression
    wanted = {name, *(each for each in alert_rules() if "ALERTS" in expression and "Gpu" in each)}
    reduced = []
    for group in groups:
        rules = [
            rule
            for rule in group["rules"]
            if rule.get("alert") in wanted
            or rule.get("record", "none") in expression
            or ("landbridge:objective" in expression and rule.get("labels", {}).get("objective") == "link")
        ]
        reduced.append({**group, "rules": rules})
    return [group for group in reduced if group["rules"]]


def _lasting(name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a fault that lasts ten hours longer than the longest window of the rules, and its repair."""
    course, rule = COURSES[name], alert_rules()[name]
    windows = re.findall(
        r"(?:\[|offset )(\d+)([mhd])", " ".join(each["expr"] for group in rules for each in group["rules"])
    )
    longest = max((int(number) * UNITS[unit] for number, unit in windows), default=0)
    lasts = course.get("lasts", longest + rule.minutes + course.get("delay", 0) + 600)
    series = {key: _values(text, (HEALTHY, lasts, REPAIRED))[0] for key, text in each_of(course["fault"]).items()}
    first, repaired = HEALTHY + rule.minutes + course.get("delay", 0) + 3, HEALTHY + lasts
    end = repaired + course.get("ends", 15)
    alert = fired(name, {"labels": course.get("labels", CASES["faults"][name]["labels"])})
    firing = sorted({*range(first, repaired, lasts // 10), repaired - 1})
    silent = [*range(0, HEALTHY + rule.minutes, 10), *range(end, max(end, repaired + REPAIRED) + 1, 20)]
    checks = [_check(name, at, [alert]) for at in firing] + [_check(name, at, []) for at in silent]
    return {
        "name": f"{name}: fault",
        "interval": "1m",
        "series": series,
        "alert_rule_test": checks,
        "minutes": end + 300,
    }


def _pause(name: str) -> dict[str, Any]:
    """Return a pause of all scrapes, as while Prometheus is replaced; a shorter one for an alert about absent metrics."""
    used = metrics_in(alert_rules()[name].expression)
    pause = 8 if "absent(" in alert_rules()[name].expression else PAUSE
    series = {}
    for key, value in HEALTHY_SERIES.items():
        start, step = re.match(r"(-?[\d.]+)(?:\+(\d+))?x", value.split()[-1]).groups()  # type: ignore[union-attr]
        if key.partition("{")[0] in used and len(value.split()) == 1:
            then = float(start) + float(step or 0) * (HEALTHY + pause)
            series[key] = f"{start}+{step or 0}x{HEALTHY - 1} _x{pause} {then:.10g}+{step or 0}x100"
    checks = [_check(name, at, []) for at in range(HEALTHY + pause + 100)]
    return {"name": f"{name}: pause", "interval": "1m", "series": series, "alert_rule_test": checks, "minutes": 200}


def _ordinary(name: str, case: tuple[str, dict[str, str]]) -> dict[str, Any]:
    title, courses = case
    values = {key: _values(text, ()) for key, text in each_of(courses).items()}
    last = max(minutes for _, minutes in values.values())
    series = {key: text for key, (text, _) in values.items()}
    checks = [_check(name, at, []) for at in range(last)]
    return {"name": f"{name}: {title}", "interval": "1m", "series": series, "alert_rule_test": checks, "minutes": last}


def _check(name: str, at: int, alerts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"alertname": name, "eval_time": f"{at}m", "exp_alerts": alerts}


def _values(text: str, lengths: tuple[int, ...]) -> tuple[str, int]:
    """Return the samples of a course in promtool's notation, and their number: one each minute."""
    parts, at, last = [], 0, 0.0
    for position, part in enumerate(str(text).split()):
        kind, _, minutes = part.partition("x")
        count = int(minutes) if minutes else lengths[position]
        step = {"clock": 60.0}.get(kind, float(kind) if kind.startswith("+") else 0.0)
        if kind == "_":
            parts.append(f"_x{count}")
        else:
            first = 60.0 * at if kind == "clock" else last + step if kind[0] in "+s" else float(kind)
            parts.append(f"{first:.10g}+{step:.10g}x{count - 1}")
            last = first + step * (count - 1)
        at += count
    return " ".join(parts), at
