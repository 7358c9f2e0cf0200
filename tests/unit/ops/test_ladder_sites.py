"""Nodes of the ladder on a site that has only the roles: platform, partition and host from options."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.acceptance.site import SiteError, environment_site, roles_site
from landbridge.catalog import platforms
from landbridge.cli.main import build
from landbridge.environment import load_environment
from tests.unit.core.samples import ROOT
from tests.unit.ops.ladder_outputs import smi


def test_platforms_are_those_of_the_options() -> None:
    site = roles_site("node[01-02]", ["hgx-h100"], "admin@login01", "gpu")
    assert site.platforms == dict.fromkeys(("node01", "node02"), platforms()["hgx-h100"])
    assert (site.ssh[0], site.ssh[-1], site.partition) == ("ssh", "admin@login01", "gpu")
    assert site.privileged and site.gpus == {"node01": 8, "node02": 8} and site.domains == {}
    assert roles_site("n1", ["hgx-h100"], "root@login01", "gpu").privileged == ()
    assert (
        roles_site("n1", ["hgx-h100"], "localhost", "gpu").ssh == roles_site("n1", ["hgx-h100"], None, "gpu").ssh == ()
    )


def test_each_node_may_have_its_own_platform_and_nvlink_domain() -> None:
    given = ["dgx[01-02]=dgx-h100", "gb[01-36]=gb200-nvl72"]
    site = roles_site(None, given, None, "all")
    assert len(site.platforms) == 38 and site.gpus["gb01"] == 4
    assert site.domains["gb18"] == site.domains["gb01"] != site.domains["gb19"] and "dgx01" not in site.domains
    assert list(roles_site("gb01,dgx01", given, None, "all").platforms) == ["gb01", "dgx01"]


REFUSED: list[tuple[str | None, list[str], str | None, str]] = [
    (None, ["dgx-h100"], "gpu", "NODES"),
    ("n[1-2]", ["dgx-h900"], "gpu", "--platform"),
    ("n[1-2]", ["n1=dgx-h100"], "gpu", "--platform"),
    ("n[1", ["dgx-h100"], "gpu", "NODES"),
    ("n1", ["dgx-h100"], None, "--partition"),
]


@pytest.mark.parametrize(("nodes", "given", "partition", "option"), REFUSED)
def test_options_that_do_not_fit_are_refused(
    nodes: str | None, given: list[str], partition: str | None, option: str
) -> None:
    with pytest.raises(SiteError) as refused:
        roles_site(nodes, given, None, partition)
    assert refused.value.option == option


def test_an_environment_gives_partition_and_domain_and_an_option_replaces_them() -> None:
    environment = load_environment(ROOT / "stacks/Pulumi.sandbox.yaml").environment
    assert environment is not None
    assert environment_site(environment, None).partition == "onprem"
    assert environment_site(environment, "dgx01", partition="debug").partition == "debug"
    assert environment_site(environment, "p5-[1-2]").partition == "p5"


def test_the_command_needs_no_environment_file(tmp_path: Path) -> None:
    (tmp_path / "driver.node01.out").write_text(smi())
    words = ["validate", "node01", "--partition", "gpu", "--rung", "driver", "--from", str(tmp_path)]
    done = CliRunner().invoke(build(), [*words, "--platform", "hgx-h100"])
    assert done.exit_code == 0 and done.output.splitlines()[-1] == "node01: passed", done.output
    (tmp_path / "driver.node01.out").write_text(smi(7))
    assert CliRunner().invoke(build(), [*words, "--platform", "hgx-h100"]).exit_code == 1
    # Neither an environment nor a platform; both.
    assert CliRunner().invoke(build(), words).exit_code == 2
    both = [*words, "--platform", "hgx-h100", "-f", str(ROOT / "stacks/Pulumi.sandbox.yaml")]
    assert CliRunner().invoke(build(), both).exit_code == 2
