"""docs/how-to/add-a-role-variable.md, followed literally in a copy of the checkout."""

import re
import subprocess
from pathlib import Path

from tests.unit.how_to.pages import ROOT, copy_of_the_checkout, run, steps

PAGE = ROOT / "docs/how-to/add-a-role-variable.md"
DIFF = re.compile(r"```diff\n(.*?)```", re.DOTALL)
#: The example environment with the new key, and the variable of one host of the on-prem group.
READ = """
from landbridge.environment import load_environment
from landbridge.plan.ansible.inventory import inventory
from pathlib import Path
text = Path("stacks/Pulumi.example.yaml").read_text()
Path("stacks/Pulumi.limited.yaml").write_text(text.replace("    owner:", "    hosts: {journal_rate_limit: 7}\\n    owner:", 1))
for name in ("example", "limited"):
    loaded = load_environment(Path(f"stacks/Pulumi.{name}.yaml"))
    assert loaded.environment, [str(finding) for finding in loaded.findings]
    groups = inventory(loaded.environment).values()
    print([group["vars"]["base_journal_rate_limit"] for group in groups if "base_journal_rate_limit" in group.get("vars", {})])
"""


def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    folder = copy_of_the_checkout(tmp_path)
    diffs = DIFF.findall(PAGE.read_text())
    assert sum(diff.count("\n+++ ") for diff in diffs) == 5, "five files are what the page promises"
    for diff in diffs:
        applied = subprocess.run(
            ["git", "apply", "-"], cwd=folder, input=diff, capture_output=True, text=True, check=False
        )
        assert applied.returncode == 0, applied.stderr
    for step in steps(PAGE):
        assert step.command is not None
        done = run(step.command, folder)
        assert done.returncode == 0, f"{step.command}\n{done.stdout[-4000:]}"
    shown = run(f"python - <<'END'\n{READ}\nEND", folder)
    assert shown.stdout.split() == ["[10000]", "[7]"], shown.stdout
    for page in ("docs/reference/roles.md", "ansible/roles/base/README.md"):
        row = "| `base_journal_rate_limit` | int | `10000` | Messages of one service"
        assert row in (folder / page).read_text()
    assert "`journal_rate_limit`" in (folder / "docs/reference/environment.md").read_text()
    assert '"journal_rate_limit"' in (folder / "stacks/environment.schema.json").read_text()
