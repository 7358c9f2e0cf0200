"""PrologSlurmctld as the role burst installs it: jobs on-prem ask nothing, and the others ask one after the other."""

import re
import subprocess
from pathlib import Path

import pytest
from jinja2 import Environment

TEMPLATE = Path(__file__).parents[3] / "ansible/roles/burst/templates/prolog-wait.j2"
#: Program in place of landbridge-prolog-ask: it records its arguments, and whether another program could ask now.
ASK = """#!/bin/sh
flock --nonblock "$1" true && lock=free || lock=held
echo "$lock $*" >> {folder}/asked
exit 1
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    jinja = Environment(trim_blocks=True, keep_trailing_newline=True)
    jinja.filters["regex_replace"] = lambda text, pattern, new: re.sub(pattern, new, text)
    pools = {"p5": {"node_prefix": "p5-"}, "desk": {"node_prefix": "desk2"}}
    text = jinja.from_string(TEMPLATE.read_text()).render(burst_config={"pools": pools}, burst_root=str(tmp_path))
    (tmp_path / "bin").mkdir()
    for name, content in (("landbridge-prolog-wait", text), ("landbridge-prolog-ask", ASK.format(folder=tmp_path))):
        (tmp_path / "bin" / name).write_text(content)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path / "bin" / "landbridge-prolog-wait"


@pytest.mark.parametrize(
    ("nodes", "asks"),
    [
        ("dgx[01-04]", False),
        ("dgx[01,05]", False),
        ("", False),
        ("notp5-1", False),
        ("p5-1", True),
        ("p5-[1-3,7]", True),
        ("dgx[01-02],p5-3", True),
        ("dgx01,desk[21-24]", True),
    ],
)
def test_only_a_job_with_a_node_in_aws_asks(program: Path, nodes: str, asks: bool) -> None:
    done = subprocess.run([program], env={"SLURM_JOB_NODELIST": nodes}, check=False)
    questions = program.parents[1] / "asked"
    assert done.returncode == (1 if asks else 0)
    assert (questions.read_text() if questions.exists() else "") == (f"held {program}\n" if asks else "")
