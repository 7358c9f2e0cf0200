"""Loading of the SDK by single modules: the same objects as the SDK's own loading, and few modules for a program."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.environments import text
from components.parts.sdk_loading import module_names
from tests.unit.core.samples import ROOT

# Each name of the SDK's packages in the components' text, first by its own module, then by the whole package.
SAME = r"""
import json, re, sys
from pathlib import Path
import components
import pulumi_aws
texts = [path.read_text() for path in Path("components").rglob("*.py")]
texts = [text for text in texts if "import pulumi_aws as aws" in text]
names = sorted({match for text in texts for match in re.findall(r"\baws\.([a-z0-9_]+)\.([A-Za-z]\w+)", text)})
names = [name for name in names if hasattr(pulumi_aws, name[0])]  # not those of URLs
single = {name: getattr(getattr(pulumi_aws, name[0]), name[1]) for name in names}
functions = [(package, name.removesuffix("_output")) for package, name in names if name.endswith("_output")]
single |= {name: getattr(getattr(pulumi_aws, name[0]), name[1]) for name in functions}
loaded = [name for name in sys.modules if name.startswith("pulumi_aws.")]
for package, _ in names:
    dir(getattr(pulumi_aws, package))
whole = [name for name in sys.modules if name.startswith("pulumi_aws.")]
differ = [name for name, value in single.items() if getattr(getattr(pulumi_aws, name[0]), name[1]) is not value]
modules = [name for name, value in single.items() if type(value) is type(sys)]
print(json.dumps([len(names), len(loaded), len(whole), differ, modules]))
"""


def test_names_are_the_sdks_own_and_few_modules_are_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", SAME], cwd=ROOT, capture_output=True, text=True, check=True)
    names, loaded, whole, differ, modules = json.loads(done.stdout)
    assert names > 60 and loaded < whole / 2
    assert differ == [] and modules == []


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("SecurityGroup", ["security_group"]),
        ("SecurityGroupArgs", ["security_group"]),
        ("NATGatewayArgsDict", ["nat_gateway"]),
        ("get_vpc_output", ["get_vpc_output", "get_vpc"]),
    ],
)
def test_a_name_is_in_the_module_of_its_own_name(name: str, modules: list[str]) -> None:
    assert [part for part in module_names(name) if not part.startswith("_")][: len(modules)] == modules


def test_a_name_that_no_package_has_is_an_attribute_error() -> None:
    code = "import components, pulumi_aws as aws; print(aws.sns.Topic.__name__, hasattr(aws.sns, 'Nothing'), aws.sns.Topic.__name__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Topic", "False", "Topic"]


def test_the_measured_graphs_can_be_recorded(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.pools.yaml"
    file.write_text(text(2))
    done = subprocess.run([sys.executable, "-m", "bench.graph", str(file)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]
    assert int(done.stdout) > 100
