"""Durations of the longest test files: two processes share a tier's files and end together when the long ones start first.

The seconds were measured on two cores under other load; only their order counts. Files that are not listed follow.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
#: Seconds by path below tests/.
SECONDS = {
    "graph/engine/test_environments.py": 241,
    "graph/engine/test_killed.py": 227,
    "graph/engine/test_faults.py": 165,
    "graph/engine/test_change.py": 158,
    "graph/engine/test_other_regions.py": 143,
    "graph/engine/test_stacks.py": 133,
    "graph/engine/test_impact.py": 124,
    "graph/engine/test_up.py": 116,
    "graph/engine/test_policy_pack.py": 103,
    "graph/engine/test_startup.py": 88,
    "graph/environments/test_readme.py": 86,
    "graph/environments/test_lock.py": 83,
    "graph/engine/test_component_package.py": 55,
    "graph/engine/test_aliases.py": 50,
    "graph/engine/test_pulumi_new.py": 44,
    "e2e/test_site.py": 352,
    "roles/hosts/mlflow_servers/test_access.py": 510,
    "roles/hosts/mlflow_servers/test_maintenance.py": 510,
    "roles/slurm/test_control.py": 445,
    "roles/gpu/test_node_health_drills.py": 330,
    "roles/storage/test_storage.py": 288,
    "roles/playbooks/test_day2.py": 261,
    "roles/gpu/test_driver.py": 210,
    "roles/gpu/test_gpu_tools.py": 200,
    "roles/slurm/test_slurm_files.py": 177,
    "roles/jobs/test_containers.py": 165,
    "roles/jobs/test_jobs.py": 154,
    "roles/slurm/test_bursting_limits.py": 106,
    "roles/base/test_hardening.py": 98,
    "roles/slurm/test_slurm_changes.py": 86,
    "roles/base/test_users.py": 69,
    "roles/hosts/test_site_dns.py": 53,
    "roles/slurm/test_burst.py": 45,
}


def longest_first(path: Path) -> int:
    """Return the key by which files are sorted, the longest first."""
    return -SECONDS.get(path.relative_to(TESTS).as_posix(), 0) if path.is_relative_to(TESTS) else 0
