"""Files of the roles for containers, without a host: valid configuration files, packages by distribution, plugins."""

import importlib.util
import json
import tomllib
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment as Jinja
from jinja2 import StrictUndefined

from landbridge import yaml_text
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.containers import SUBIDS_PER_USER, subid
from landbridge.plan.slurm.files import slurm_files
from tests.roles.jobs.spank_plugin import plugin
from tests.unit.core.samples import environment

ROLES = Path(__file__).parents[3] / "ansible/roles"


def rendered(role: str, template: str, **variables: Any) -> str:
    """Render a template of a role with these variables, and the role's defaults for all others."""
    jinja = Jinja(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    jinja.filters["to_json"] = json.dumps
    defaults = yaml_text.load((ROLES / role / "defaults/main.yml").read_text())
    text = (ROLES / role / "templates" / template).read_text()
    return jinja.from_string(text).render(
        {"ansible_managed": "managed", f"{role}_source": "site-1", **defaults, **variables}
    )


def planned(**containers: Any) -> Environment:
    return environment({("containers",): containers})


def test_a_container_stays_in_its_jobs_cgroup_with_every_cgroup_manager() -> None:
    configuration = tomllib.loads(rendered("podman", "containers.conf.j2"))
    assert (
        configuration["containers"]["cgroups"] == "disabled" and configuration["engine"]["cgroup_manager"] == "cgroupfs"
    )
    assert configuration["engine"]["image_copy_tmp_dir"] == "storage", "an image of 20 GB would fill the system's disk"
    assert "/etc/cdi" in configuration["engine"]["cdi_spec_dirs"]
    assert "pidns" not in configuration["containers"], (
        "podman refuses containers without a cgroup that share the host's process namespace"
    )


@pytest.mark.parametrize("fallback", [True, False])
def test_a_mirror_comes_first_and_the_registry_only_as_a_permitted_fallback(fallback: bool) -> None:
    mirror = {"registry": "nvcr.io", "location": "cache01:5000/nvcr", "fallback": fallback}
    configuration = tomllib.loads(rendered("podman", "registries.conf.j2", podman_mirrors=[mirror]))
    (registry,) = configuration["registry"]
    assert registry["prefix"] == "nvcr.io" and configuration["unqualified-search-registries"] == []
    if fallback:
        assert registry["location"] == "nvcr.io"
        assert registry["mirror"] == [{"location": "cache01:5000/nvcr", "insecure": False}]
    else:
        assert registry["location"] == "cache01:5000/nvcr" and "mirror" not in registry


def test_images_are_unpacked_in_a_folder_named_by_uid() -> None:
    configuration = tomllib.loads(rendered("podman", "storage.conf.j2", podman_folder="/scratch/podman"))
    assert configuration["storage"]["rootless_storage_path"] == "/scratch/podman/$UID"


@pytest.mark.parametrize("system", ["Debian", "Ubuntu", "RedHat"])
def test_every_distribution_has_its_packages(system: str) -> None:
    variables = yaml_text.load((ROLES / f"podman/vars/{system}.yml").read_text())
    packages = variables["podman_distribution_packages"]
    assert packages[:2] == ["podman", "crun"]
    assert ("uidmap" in packages) is (system != "RedHat"), "EL has newuidmap in shadow-utils"


def test_a_repository_is_configured_with_its_own_key() -> None:
    repository = {"uris": "http://mirror.example.org/c", "suites": "stable", "components": "main"}
    for role, template in (("enroot_pyxis", "containers.sources.j2"), ("apptainer", "apptainer.sources.j2")):
        text = rendered(role, template, **{f"{role}_repository": repository})
        assert (
            "URIs: http://mirror.example.org/c\nSuites: stable\nComponents: main\nSigned-By: /etc/apt/keyrings/" in text
        )
        flat = rendered(role, template, **{f"{role}_repository": {**repository, "components": "", "suites": "./"}})
        assert "Components" not in flat


def test_nodes_get_only_the_variables_of_their_engines() -> None:
    variables = inventory(planned(engines=["podman"]))["all"]["vars"]
    assert variables["podman_users"][0] == {"name": "alice", "uid": 20001, "subid": subid(20001)}
    assert not [name for name in variables if name.startswith(("enroot_pyxis", "apptainer"))]
    assert variables["slurm_job_environment_user_folders"] == ["/var/lib/landbridge/containers/podman"]
    nothing = inventory(planned(engines=[]))["all"]["vars"]
    assert not [name for name in nothing if name.startswith(("podman", "enroot_pyxis", "apptainer"))]


def test_images_are_on_the_local_scratch_disk_if_there_is_one() -> None:
    scratch = environment({("onprem", "nodes", 0, "local_scratch"): "/scratch"})
    variables = inventory(scratch)["_meta"]["hostvars"]["dgx01"]
    assert variables["podman_folder"] == "/scratch/containers/podman"
    assert variables["slurm_job_environment_user_folders"] == ["/scratch/containers/podman"]


def test_aws_parallelcluster_6459_the_plugin_is_named_outright_and_only_where_it_is_wanted() -> None:
    text = slurm_files(planned(engines=["enroot"]))["plugstack.conf"]
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == ["required /usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so container_scope=job"]
    assert "plugstack.conf" not in slurm_files(planned(engines=["podman", "apptainer"]))


def test_nodes_on_arm_have_the_plugin_at_a_path_without_an_architecture() -> None:
    # One plugstack.conf serves Grace nodes and login hosts on x86_64.
    grace = environment(
        {("containers",): {"engines": ["enroot"]}, ("onprem", "nodes", 0, "platform"): "gb200-nvl72"},
    )
    link = inventory(grace)["all"]["vars"]["enroot_pyxis_link"]
    assert f"required {link} container_scope=job\n" in slurm_files(grace)["plugstack.conf"]
    assert "x86_64" not in slurm_files(grace)["plugstack.conf"] + link
    defaults = yaml_text.load((ROLES / "enroot_pyxis/defaults/main.yml").read_text())
    for architecture in ("x86_64", "aarch64"):
        plugin_path = Jinja().from_string(defaults["enroot_pyxis_plugin"])
        path = plugin_path.render(ansible_facts={"architecture": architecture})
        assert path == f"/usr/lib/{architecture}-linux-gnu/slurm/spank_pyxis.so"


@given(st.lists(st.integers(1000, 60_000), unique=True, min_size=2, max_size=50))
def test_subuid_ranges_of_users_do_not_overlap(uids: list[int]) -> None:
    spans = sorted((subid(uid), subid(uid) + SUBIDS_PER_USER) for uid in uids)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(first > 100_000 and end < 2**32 for first, end in spans)


@pytest.fixture(scope="module")
def module() -> ModuleType:
    path = ROLES / "enroot_pyxis/library/spank_plugin.py"
    spec = importlib.util.spec_from_file_location("spank_plugin", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("release", ["23.11", "24.11", "25.05", "26.05"])
def test_the_slurm_release_of_a_plugin_is_read(module: ModuleType, release: str) -> None:
    assert module.built_for(plugin("pyxis", release)) == release


@given(cut=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_file_that_is_no_plugin_raises_not_a_plugin_or_gives_a_text(module: ModuleType, cut: int, byte: int) -> None:
    whole = plugin("pyxis", "26.05")
    for data in (
        whole[: min(cut, len(whole) - 1)],
        whole[: cut % len(whole)] + bytes([byte]) + whole[cut % len(whole) + 1 :],
    ):
        with suppress(module.NotAPlugin):
            assert isinstance(module.built_for(data), str)
