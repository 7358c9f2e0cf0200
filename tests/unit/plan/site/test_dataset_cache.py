"""Variables of the role dataset_cache: nodes with a disk, classes that may be at the site, and keys that the program reads."""

import re
from typing import Any

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.dataset_cache import dataset_cache_variables
from tests.roles.jobs.program_module import ROLES
from tests.unit.core.samples import GOOD, environment

PROGRAM = ROLES / "dataset_cache/files/landbridge-data"
SCRATCH = ("onprem", "nodes", 0, "local_scratch")


def changes(cache: Any) -> dict[tuple[str | int, ...], Any]:
    staging = {"folder": "/export/home/datasets", "mount": "/home/datasets/", "cache": cache}
    return {("storage", "staging"): {**staging, "groups": {"internal": "lab", "public": "all"}}, SCRATCH: "/scratch"}


def test_a_node_with_a_disk_caches_classes_with_a_group_that_may_be_there() -> None:
    public = {("data_classes", "public"): {"sites": ["aws"]}}
    other = {**GOOD["onprem"]["nodes"][0], "hosts": "smc01", "address": "10.20.1.31"}
    nodes = {("onprem", "nodes"): [{**GOOD["onprem"]["nodes"][0], "local_scratch": "/scratch/"}, other]}
    wanted = {**changes({"size_gib": 500, "remove_after_job": ["internal"]}), **public}
    del wanted[SCRATCH]
    hosts = inventory(environment({**wanted, **nodes}))["_meta"]["hostvars"]
    config = hosts["dgx02"]["dataset_cache_config"]
    assert config["classes"] == {"internal": {"group": "lab", "keep": False}}
    assert (config["root"], config["source"]) == ("/scratch/datasets", "/home/datasets")
    assert config["limit_bytes"] == 500 << 30 and hosts["dgx02"]["dataset_cache_mount"] == "/scratch/"
    assert "dataset_cache_config" not in {*hosts["smc01"], *hosts["ctl01"]}


def test_the_program_reads_each_setting_and_no_other_without_a_default() -> None:
    settings = dataset_cache_variables(environment(changes({"size_gib": 1})), "dgx01")["dataset_cache_config"]
    text = PROGRAM.read_text()
    read = set(re.findall(r'settings\["(\w+)"\]', text))
    assert read == set(settings)
    assert settings["classes"] == {"internal": {"group": "lab", "keep": True}}


def test_without_a_cache_or_staging_a_node_has_no_variables() -> None:
    assert dataset_cache_variables(environment(changes(None)), "dgx01") == {}
    assert dataset_cache_variables(environment({SCRATCH: "/scratch"}), "dgx01") == {}
