"""`landbridge configure` as a function and as a command, on this host only."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.display.configure import ConfigureDisplay
from landbridge.cli.main import build
from landbridge.environment import Environment, load_environment
from landbridge.findings import FindingsError
from landbridge.paths import secrets_dir
from landbridge.realise import wheel
from landbridge.realise.configure import ConfigureResult, Event, TaskOutcome, configure

ROOT = Path(__file__).parents[3]
PLAY = """
- name: Here
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Look
      ansible.builtin.command: "true"
      changed_when: false
    - name: Write
      ansible.builtin.copy: {content: x, dest: "{{ playbook_dir }}/out"}
"""
ADDED = """
- name: Two more
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Know it
      ansible.builtin.add_host: {name: "{{ item }}", ansible_python_interpreter: "{{ ansible_playbook_python }}"}
      loop: [quick, slow]
"""
FAILING = (
    PLAY
    + """
    - name: Break
      ansible.builtin.fail: {msg: this is why}
"""
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a checkout with the sandbox's environment and a playbook that needs no other host."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for service in ("burst", "mlflow"):
        (secrets_dir("sandbox") / f"aws-credentials-{service}").write_text("[default]\n")
    for folder in ("ansible/roles", "stacks"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(ROOT / "ansible/plugins", tmp_path / "ansible/plugins")
    shutil.copy(ROOT / "ansible.cfg", tmp_path)
    key, text = tmp_path / "id_ed25519", (ROOT / "stacks/Pulumi.sandbox.yaml").read_text()
    key.write_text("")
    changed = text.replace("~/.local/state/landbridge/lab/id_ed25519", str(key))
    assert changed != text
    (tmp_path / "stacks/Pulumi.sandbox.yaml").write_text(changed)
    (tmp_path / "ansible/site.yml").write_text("---" + PLAY)
    return tmp_path


def run(project: Path, *, check: bool = False) -> tuple[ConfigureResult, list[Event]]:
    events: list[Event] = []
    path = project / "stacks/Pulumi.sandbox.yaml"
    return configure(environment(path), path, events.append, check=check), events


def environment(path: Path) -> Environment:
    loaded = load_environment(path).environment
    assert loaded is not None
    return loaded


def test_a_check_and_a_second_run_change_nothing(project: Path) -> None:
    checked, _ = run(project, check=True)
    assert checked.successful and not (project / "ansible/out").exists()
    first, events = run(project)
    assert first.successful, first.log.read_text()
    assert first.hosts["localhost"].changed == 1
    states = [(event.task.name, event.state) for event in events if isinstance(event, TaskOutcome)]
    assert states == [("Look", "ok"), ("Write", "changed")]
    second, _ = run(project)
    assert second.hosts["localhost"].changed == 0


ALONE = """
- name: Alone
  hosts: quick,slow
  connection: local
  gather_facts: false
  strategy: free
  tasks:
    - name: Wait
      ansible.builtin.command: "sleep {{ 1.5 if inventory_hostname == 'slow' else 0 }}"
      changed_when: inventory_hostname == 'slow'
    - name: Break
      ansible.builtin.fail: {msg: "of {{ inventory_hostname }}"}
"""


def test_with_the_free_strategy_results_belong_to_the_right_task(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ansible/site.yml").write_text("---" + ADDED + ALONE)
    events: list[Event] = []
    path = project / "stacks/Pulumi.sandbox.yaml"
    with ConfigureDisplay("sandbox") as show:
        result = configure(environment(path), path, lambda event: (events.append(event), show(event)))
    seen = [(event.task.name, event.host, event.state) for event in events if isinstance(event, TaskOutcome)]
    # The quick host begins its second task before the slow one has ended its first.
    alone = [row for row in seen if row[1] != "localhost"]
    assert alone[:2] == [("Wait", "quick", "ok"), ("Break", "quick", "failed")]
    assert alone[2:] == [("Wait", "slow", "changed"), ("Break", "slow", "failed")]
    assert {(failure.host, failure.message) for failure in result.failures} == {
        ("quick", "of quick"),
        ("slow", "of slow"),
    }
    assert result.seconds["slow"]["Wait"] >= 1.5 and "Wait" in result.seconds["quick"]
    output = capsys.readouterr().err.splitlines()
    assert [line.split() for line in output if "Wait" in line] == [["changed", "Wait", "[slow]"]]
    assert output.index("      of quick") < next(n for n, line in enumerate(output) if "Wait" in line)


def test_a_failure_is_reported_with_its_reason(project: Path) -> None:
    (project / "ansible/site.yml").write_text("---" + FAILING)
    result, _ = run(project)
    assert not result.successful
    assert [(failure.host, failure.task.name, failure.message) for failure in result.failures] == [
        ("localhost", "Break", "this is why")
    ]


def test_the_command_ends_with_1_when_a_host_failed(project: Path) -> None:
    (project / "ansible/site.yml").write_text("---" + FAILING)
    words = ["configure", "--file", str(project / "stacks/Pulumi.sandbox.yaml"), "--format", "json"]
    done = CliRunner().invoke(build(), words)
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert report["hosts"]["localhost"]["failed"] == 1
    assert report["failures"][0]["message"] == "this is why"


def test_the_command_names_what_a_run_removes(project: Path) -> None:
    query = """
    - name: Query
      ansible.builtin.debug: {var: removals}
      vars: {removals: [landbridge-mover.service, /etc/landbridge/mover.json]}
"""
    (project / "ansible/site.yml").write_text("---" + PLAY + query)
    words = ["configure", "--file", str(project / "stacks/Pulumi.sandbox.yaml"), "--check"]
    done = CliRunner().invoke(build(), words)
    assert "  remove      /etc/landbridge/mover.json  [localhost]" in done.stderr.splitlines()
    report = json.loads(CliRunner().invoke(build(), [*words, "--format", "json"]).stdout)
    assert report["removals"] == {"localhost": ["landbridge-mover.service", "/etc/landbridge/mover.json"]}


def test_the_command_names_the_longest_task_of_each_host(project: Path) -> None:
    (project / "ansible/site.yml").write_text(
        "---" + PLAY.replace('"true"', '"sleep 1.5"').partition("    - name: Write")[0]
    )
    words = ["configure", "--file", str(project / "stacks/Pulumi.sandbox.yaml")]
    done = CliRunner().invoke(build(), words)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("localhost"))
    assert float(row.split()[5]) >= 1.0 and row.split()[6] == "Look:"
    done = CliRunner().invoke(build(), [*words, "--format", "json"])
    assert json.loads(done.stdout)["hosts"]["localhost"]["tasks"]["Look"] >= 1.5


def test_an_environment_file_elsewhere_is_configured_from_the_working_directory(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path_factory.mktemp("elsewhere") / "Pulumi.sandbox.yaml"
    shutil.move(project / "stacks/Pulumi.sandbox.yaml", path)
    monkeypatch.chdir(project)
    assert configure(environment(path), path, lambda event: None).successful
    assert (project / "ansible/out").read_text() == "x"


def test_without_a_playbook_there_is_a_finding(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "ansible/site.yml").unlink()
    monkeypatch.chdir(project)
    path = project / "stacks/Pulumi.sandbox.yaml"
    with pytest.raises(FindingsError, match=r"no ansible/site\.yml"):
        configure(environment(path), path, lambda event: None)


def test_the_wheel_is_the_same_for_the_same_content(tmp_path: Path) -> None:
    first, second = wheel.build(tmp_path / "a"), wheel.build(tmp_path / "b")
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith("/RECORD"))
        listed = [line.split(",")[0] for line in archive.read(record).decode().splitlines()]
        scripts = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert sorted(listed) == sorted(names)
    assert "landbridge/burst/hooks/programs.py" in names and "landbridge/catalog/instances/p5.yaml" in names
    assert "landbridge-resume = landbridge.burst.hooks.programs:resume" in scripts


def test_several_processes_may_build_the_wheel_at_once(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from landbridge.realise import wheel; print(wheel.build(Path(sys.argv[1])))"
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    paths = {process.communicate()[0].strip() for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(paths) == 1 and [str(path) for path in tmp_path.iterdir()] == sorted(paths)
