"""Variables of the role dataset_cache: nodes with a disk, classes that may be at the site, and keys that the program reads."""

import json
import re
from typing import Any

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.pool import POOL_FILE
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.nodes.dataset_cache import cloud_dataset_cache_variables, dataset_cache_variables
from landbridge.plan.slurm.jobs.data_lines import data_lines
from tests.roles.jobs.program_module import ROLES
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.roles.storage.dataset_cache_node import bucket
from tests.unit.core.samples import GOOD, environment

STACK_OUTPUTS = StackOutputs.model_validate_json(json.dumps(OUTPUTS))
PROGRAM = "".join(path.read_text() for path in sorted((ROLES / "dataset_cache/files/dataset_cache").glob("*.py")))
POOL_SCRATCH = ("aws", "pools", 0, "local_scratch")
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
    read = set(re.findall(r'settings\["(\w+)"\]', PROGRAM))
    # On a node in AWS the pool's file names the disk.
    assert read == {*settings, "pool"}
    assert settings["classes"] == {"internal": {"group": "lab", "keep": True}}


def test_without_a_cache_or_staging_a_node_has_no_variables() -> None:
    assert dataset_cache_variables(environment(changes(None)), "dgx01") == {}
    assert dataset_cache_variables(environment({SCRATCH: "/scratch"}), "dgx01") == {}


def in_aws(**more: Any) -> dict[tuple[str | int, ...], Any]:
    """Return the changes of a pool with a disk, and no on-prem node with one."""
    wanted = {**changes({"size_gib": 500, "remove_after_job": ["internal"]}), POOL_SCRATCH: "/local"}
    del wanted[SCRATCH]
    return {**wanted, **more}


def test_nodes_of_a_pool_with_a_disk_read_the_buckets_of_classes_that_may_be_in_aws() -> None:
    chosen = environment(in_aws())
    config = inventory(chosen)["all"]["vars"]["landbridge_dataset_cache"]
    assert config["classes"] == {
        name: {"group": "", "keep": name != "internal"}
        for name, data_class in sorted(chosen.data_classes.items())
        if "aws" in data_class.sites
    }
    assert "restricted" not in config["classes"] and config["pool"] == POOL_FILE
    buckets = config["buckets"]
    assert buckets["url"] == "https://BUCKET.s3.us-east-1.amazonaws.com" and buckets["region"] == "us-east-1"
    settings = dataset_cache_variables(environment(changes({"size_gib": 1})), "dgx01")["dataset_cache_config"]
    assert set(settings) <= set(config)
    read = set(re.findall(r'buckets\["(\w+)"\]', PROGRAM))
    assert read == set(buckets) | {"url"}


def test_slurm_conf_names_the_bucket_of_each_class_that_the_program_reads() -> None:
    chosen = environment(in_aws())
    lines = "\n".join(data_lines(chosen, STACK_OUTPUTS))
    names = bucket.BUCKETS.findall(lines)
    assert ("internal", STACK_OUTPUTS.data_hub.buckets["internal"].name) in names


def test_the_source_in_aws_follows_the_endpoint_and_the_mounted_file_system() -> None:
    endpoint = {("aws", "endpoints"): {"cloud": "http://10.60.0.254:4580"}}
    config = cloud_dataset_cache_variables(environment({**in_aws(), **endpoint}))["landbridge_dataset_cache"]
    assert config["buckets"]["url"] == "http://10.60.0.254:4580/BUCKET" and config["buckets"]["mounts"] == {}
    repositories = [{"folder": "/in", "data_class": "internal"}]
    scratch = {("storage", "cloud_scratch"): {"kind": "fsx_lustre", "mount": "/fsx", "repositories": repositories}}
    config = cloud_dataset_cache_variables(environment({**in_aws(), **scratch}))["landbridge_dataset_cache"]
    assert config["buckets"]["mounts"] == {"internal": "/fsx/in"}


def test_without_a_disk_of_a_pool_an_image_has_no_cache() -> None:
    assert cloud_dataset_cache_variables(environment(changes({"size_gib": 1}))) == {}
    assert cloud_dataset_cache_variables(environment({POOL_SCRATCH: "/local"})) == {}
