"""Folders in which every user can write: root works in none of them under a name that a user can know."""

import re
from pathlib import Path

ROLES = Path(__file__).parents[3] / "ansible/roles"
#: Path below a public folder, as a role's text states it.
PUBLIC = re.compile(r"""(?<![\w}/])/(?:var/tmp|tmp|dev/shm)/[\w.{-]+""")


def test_roles_work_in_no_folder_that_a_user_may_have_made_before() -> None:
    paths = [path for part in ("tasks", "vars", "defaults", "handlers") for path in ROLES.glob(f"*/{part}/*.yml")]
    assert len(paths) > 100
    places = {f"{path.relative_to(ROLES)}: {match}" for path in paths for match in PUBLIC.findall(path.read_text())}
    assert places == set()
