"""Mistakes with the cache of staged datasets on nodes."""

from tests.unit.rules.row import Row

STAGING, GROUP = ("storage", "staging"), ("onprem", "nodes", 0, "local_scratch")
CACHE = {"size_gib": 500}
FOLDERS = {"folder": "/export/home/datasets", "mount": "/home/datasets", "groups": {"internal": "lab"}}


def cache(*classes: str) -> dict[str, object]:
    return {**FOLDERS, "cache": {**CACHE, "remove_after_job": list(classes)}}


ROWS = [
    Row("dataset-cache-without-disk", "a cache without local_scratch", {STAGING: cache()}, (*STAGING, "cache"), "no dataset is cached"),
    Row("dataset-cache-classes", "an unknown class of a cache", {STAGING: cache("absent"), GROUP: "/scratch"}, (*STAGING, "cache", "remove_after_job", 0), "no data class absent"),
    Row("dataset-cache-classes", "a class of a cache without a group", {STAGING: cache("restricted"), GROUP: "/scratch"}, (*STAGING, "cache", "remove_after_job", 0), "never cached"),
]  # fmt: skip
