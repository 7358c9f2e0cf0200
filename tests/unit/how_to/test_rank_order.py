"""The lines of docs/how-to/submit-jobs.md that order a job's nodes by network distance, with a stand-in of sinfo."""

import os
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/how-to/submit-jobs.md"
MARK = "<!-- run: rank order -->\n```bash\n"


def lines_of_page() -> str:
    return PAGE.read_text().partition(MARK)[2].partition("```")[0]


def ordered(tmp_path: Path, comments: dict[str, str], tasks: str = "") -> tuple[list[str], str]:
    """Run the lines for nodes with these comments; return the host file's lines and the first host."""
    program = tmp_path / "sinfo"
    # In sinfo's format: padded columns, and one row for each partition of a node.
    rows = [f"{comment:<300}{node:<100}" for node, comment in comments.items() for _ in range(2)]
    (tmp_path / "rows").write_text("\n".join(rows) + "\n")
    program.write_text(f'#!/bin/sh\ncase "$*" in *"--nodes=p5-[1-4]"*) cat {tmp_path}/rows ;; *) exit 2 ;; esac\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "p5-[1-4]",
        **({"SLURM_NTASKS_PER_NODE": tasks} if tasks else {}),
    }
    script = f'set -euo pipefail\n{lines_of_page()}\necho "$first"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    return (tmp_path / "hosts.7").read_text().split(), done.stdout.strip()


@pytest.mark.parametrize(
    ("comments", "order"),
    [
        (
            {
                "p5-1": "network:nn-1/nn-2/nn-5",
                "p5-2": "network:nn-1/nn-3/nn-4",
                "p5-3": "network:nn-1/nn-2/nn-5",
                "p5-4": "network:nn-1/nn-2/nn-6",
            },
            ["p5-1", "p5-3", "p5-4", "p5-2"],
        ),
        (dict.fromkeys(("p5-1", "p5-2", "p5-3", "p5-4"), "(null)"), ["p5-1", "p5-2", "p5-3", "p5-4"]),
        ({"p5-1": "network:nn-2/nn-1", "p5-2": "", "p5-3": "network:nn-1/nn-1", "p5-4": ""}, None),
    ],
    ids=["by network", "without places", "some without a place"],
)
def test_nodes_with_the_same_network_nodes_are_neighbours(
    tmp_path: Path, comments: dict[str, str], order: list[str] | None
) -> None:
    hosts, first = ordered(tmp_path, comments)
    assert sorted(hosts) == sorted(comments) and first == hosts[0]
    assert order is None or hosts == order


def test_a_node_is_listed_once_for_each_of_its_tasks(tmp_path: Path) -> None:
    comments = {"p5-1": "network:nn-2", "p5-2": "network:nn-1", "p5-3": "network:nn-3", "p5-4": "network:nn-3"}
    hosts, _ = ordered(tmp_path, comments, tasks="2")
    assert hosts == ["p5-2", "p5-2", "p5-1", "p5-1", "p5-3", "p5-3", "p5-4", "p5-4"]
