"""`check` stays fast: its imports, its memory, and the growth of its work. No clock is read here."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from bench.environments import names, text
from bench.measure import Contender, Failed, take_turns
from landbridge.environment import load_text
from landbridge.findings import has_errors
from landbridge.rules import check

ROOT = Path(__file__).parents[2]
DAY = date(2026, 11, 21)
LIMIT_MIB = 100
# Each of these alone costs more than reading an environment; `check` needs none of them.
GIANTS = {
    "ansible", "ansible_runner", "asyncio", "boto3", "botocore", "concurrent", "cryptography", "jax", "jinja2", "jsonschema",
    "logging", "mlflow", "moto", "multiprocessing", "numpy", "pulumi", "pulumi_aws", "requests", "rich", "ruamel", "sandbox",
    "ssl", "unittest", "urllib3",
}  # fmt: skip

PROGRAM = """
import json, sys
sys.argv = ["landbridge", *json.loads(sys.argv[1])]
from landbridge.cli.main import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)))
"""


def modules(*words: str) -> set[str]:
    """Return the modules that `landbridge WORDS` has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def packages(loaded: set[str]) -> set[str]:
    """Return the top-level packages of modules."""
    return {name.partition(".")[0] for name in loaded}


def test_check_imports_no_giant() -> None:
    loaded = modules("check", "-s", "example")
    assert "landbridge.rules" in loaded
    assert packages(loaded) & GIANTS == set()


def test_a_command_loads_its_own_module_alone() -> None:
    loaded = modules("check", "-s", "example")
    others = {name for name in loaded if name.startswith("landbridge.cli.")}
    assert {name.rpartition(".")[2] for name in others} <= {
        "check",
        "common",
        "display",
        "environment",
        "excerpt",
        "main",
    }


# Plans of whole hosts, which no rule needs: each imports some tens of other plans.
WHOLE = {
    "landbridge.plan.ansible.inventory",
    "landbridge.plan.node_image.node_image",
    "landbridge.plan.outputs",
    "landbridge.plan.roles.hosts.roles_anywhere",
    "landbridge.plan.serving.gateway",
    "landbridge.plan.site.health",
    "landbridge.plan.site.home_directories",
    "landbridge.plan.site.link.gateway",
    "landbridge.plan.slurm.conf",
    "landbridge.plan.slurm.files",
    "landbridge.rules.explanation",
}


@pytest.mark.parametrize("environment", ["hybrid", "frontier"])
def test_check_imports_no_plan_of_whole_hosts(environment: str) -> None:
    loaded = modules("check", "-s", environment)
    assert "landbridge.plan.cost" in loaded
    assert loaded & WHOLE == set()


def test_the_import_of_the_rules_builds_no_validators() -> None:
    code = (
        "import landbridge.rules; from landbridge.catalog.files import Facts; from landbridge.plan.args import Args; "
        "from landbridge.environment.base import Model; "
        "every = [*Facts.__subclasses__(), *Args.__subclasses__(), *Model.__subclasses__()]; assert len(every) > 200; "
        "print(*sorted(model.__name__ for model in every if model.__pydantic_complete__))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # These are the types of default values.
    assert set(done.stdout.split()) <= {"Cipher", "DataClass", "Environment"}


# On 2026-11-26 `check -s hybrid` had 352 modules, 377 models, 52 validators (92 before) and 65 dataclasses. Each module or model costs about a
# third of a millisecond of processor time and each validator a whole one; nearly all of the time of `check` is there.
# A part that needs more first saves elsewhere: an import inside the function that needs it, one model instead of three.
# On 2026-11-30 the 18 roles that define groups of hosts became modules of their own, small ones: 383 modules, 347 models, 69 dataclasses.
MOST = {"modules": 385, "models": 355, "validators": 55, "dataclasses": 70}

COUNT = """
import dataclasses, json, sys
sys.argv = ["landbridge", "check", "-s", "hybrid"]
from landbridge.cli.main import main
try:
    main()
except SystemExit:
    pass
from pydantic import BaseModel

def below(model):
    for child in model.__subclasses__():
        yield child
        yield from below(child)

models = {model for model in below(BaseModel) if model.__module__.startswith("landbridge.")}
modules = [name for name in sys.modules if name.partition(".")[0] == "landbridge"]
classes = {value for name in modules for value in vars(sys.modules[name]).values() if isinstance(value, type)}
print(json.dumps({
    "modules": len(modules),
    "models": len(models),
    "validators": sum(model.__pydantic_complete__ for model in models),
    "dataclasses": sum(dataclasses.is_dataclass(value) and value.__module__ in modules for value in classes - models),
}))
"""


def test_the_work_of_check_does_not_grow_with_each_part() -> None:
    done = subprocess.run([sys.executable, "-c", COUNT], cwd=ROOT, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["models"] > 100
    assert {name: count for name, count in counts.items() if count > MOST[name]} == {}, counts


def test_help_needs_neither_environment_nor_models() -> None:
    loaded = modules("--help")
    assert packages(loaded) & (GIANTS - {"sandbox"} | {"pydantic", "yaml"}) == set()
    assert "landbridge.environment" not in loaded


@pytest.mark.parametrize("module", ["landbridge.burst.hooks.programs", "landbridge.burst.hooks.prolog_wait"])
def test_programs_that_slurm_runs_import_no_giant(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert packages(set(done.stdout.split())) & (GIANTS | {"pydantic", "typer", "yaml"}) == set()


def test_the_resume_program_loads_little_of_the_product_and_of_python() -> None:
    code = "import sys; sys.path.append(sys.argv[1]); import landbridge.burst.hooks.programs; print(*sys.modules)"
    command = [sys.executable, "-IS", "-c", code, str(ROOT)]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    burst_modules = {name.removeprefix("landbridge.burst.") for name in loaded if name.startswith("landbridge.burst.")}
    assert burst_modules == {"hooks", "hooks.programs", "journal", "journal.database", "journal.paths"}
    assert not loaded & {
        "dataclasses",
        "inspect",
        "pathlib",
        "subprocess",
        "tempfile",
        "threading",
        "typing",
        "logging",
    }


def test_the_daemon_imports_no_large_package() -> None:
    """Check that the daemon loads botocore alone: no models, no resource tables, nothing of the operator's commands."""
    # The controller's host has no pyOpenSSL, which urllib3 imports where it is installed.
    code = "import sys; sys.modules['OpenSSL'] = None; import landbridge.burst.daemon.daemon; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    large = {
        "boto3",
        "pydantic",
        "yaml",
        "ruamel",
        "rich",
        "typer",
        "click",
        "asyncio",
        "numpy",
        "cryptography",
        "sandbox",
    }
    loaded = set(done.stdout.split())
    assert packages(loaded) & large == set()
    assert not loaded & {"landbridge.catalog", "landbridge.environment", "landbridge.plan"}


STARTER = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("pools", [50, 500])
def test_check_stays_small(pools: int, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.pools.yaml"
    path.write_text(text(pools))
    command = [str(Path(sys.executable).parent / "landbridge"), "check", "-f", str(path)]
    # A new process starts as a copy of its parent, and that memory counts: therefore a small process starts it.
    done = subprocess.run([sys.executable, "-c", STARTER, *command], capture_output=True, text=True, check=True)
    status, peak_kib = map(int, done.stdout.split())
    assert status == 0
    assert peak_kib / 1024 < LIMIT_MIB


def calls(act: Callable[[], object]) -> int:
    """Count the calls of Python and C functions in `act`: the same on every machine."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def calls_of_check(written: str) -> int:
    """Return the work of one `check` of a text, without files that are read once per process."""
    path = Path("stacks/Pulumi.pools.yaml")

    def act() -> None:
        check(load_text(written, path), DAY)

    act()
    return calls(act)


# Replacements that put one kind of mistake into every pool of a valid file.
MISTAKES = {
    "none": ("", ""),
    "unknown key": ("max_nodes:", "max_node:"),
    "wrong type": ("suspend_after: 900", "suspend_after: soon"),
    "wrong choice": ("kind: on_demand", "kind: on_demnd"),
    "unknown type": ("instance: p", "instance: pp"),
    "unknown zone": ("use1-az6", "use1-az9"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_twice_the_pools_are_twice_the_work(mistake: str) -> None:
    before, after = MISTAKES[mistake]
    work = {
        pools: calls_of_check(text(pools).replace(before, after) if before else text(pools))
        for pools in (125, 250, 500)
    }
    assert work[250] < 2.4 * work[125], work
    assert work[500] < 2.4 * work[250], work


@pytest.mark.parametrize("pools", [1, 50, 500])
def test_the_measured_environments_are_sound(pools: int) -> None:
    loaded = load_text(text(pools), Path("stacks/Pulumi.pools.yaml"))
    findings = check(loaded, DAY)
    assert not has_errors(findings), findings
    assert loaded.environment is not None
    assert [pool.name for pool in loaded.environment.aws.pools] == names(pools)
    assert len(set(names(pools))) == pools


HOLD = "import time; held = b'x' * (40 << 20); time.sleep(0.3)"


def test_the_memory_of_running_children_is_counted() -> None:
    both = f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {HOLD!r}]); {HOLD}; child.wait()"
    # In a separate process, like the benchmark: a large parent's memory would count as its children's at their start.
    code = (
        "import json, pathlib, sys; from bench.measure import Contender, take_turns; command = (sys.executable, '-c', sys.argv[1]); "
        "turns = [Contender('alone', command), Contender('tree', command, tree=True)]; "
        "figures = take_turns(turns, 1, pathlib.Path.cwd()); print(json.dumps([f.peak_mib for f in figures.values()]))"
    )
    done = subprocess.run([sys.executable, "-c", code, both], cwd=ROOT, capture_output=True, text=True, check=True)
    alone, tree = json.loads(done.stdout)
    assert 40 < alone < 80 < tree


def test_a_command_that_fails_is_not_measured() -> None:
    with pytest.raises(Failed, match="ended with 3: why"):
        take_turns(
            [Contender("bad", (sys.executable, "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"))], 1, ROOT
        )
