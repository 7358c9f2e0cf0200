"""Durations of the longest test files: two processes share a tier's files and end together when the long ones start first.

The seconds were measured on two cores under other load; only their order counts. Files that are not listed follow.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
#: Seconds by path below tests/.
SECONDS = {
    "graph/test_engine_stacks.py": 311,
    "graph/test_engine_killed.py": 227,
    "graph/test_engine_environments.py": 219,
    "graph/test_engine_change.py": 212,
    "graph/test_engine_faults.py": 185,
    "graph/test_engine_impact.py": 124,
    "graph/test_engine_up.py": 116,
    "graph/test_engine_policy.py": 103,
    "graph/test_engine_startup.py": 88,
    "graph/test_lock.py": 83,
    "graph/test_engine_package.py": 55,
    "graph/test_engine_aliases.py": 50,
    "graph/test_engine_new.py": 44,
    "roles/slurm/test_control.py": 445,
    "roles/playbooks/test_site.py": 430,
    "roles/gpu/test_node_health_drills.py": 410,
    "roles/playbooks/test_day2.py": 261,
    "roles/gpu/test_driver.py": 210,
    "roles/gpu/test_gpu_tools.py": 200,
    "roles/storage/test_storage.py": 190,
    "roles/slurm/test_slurm_files.py": 177,
    "roles/jobs/test_containers.py": 165,
    "roles/jobs/test_jobs.py": 154,
    "roles/slurm/test_bursting_limits.py": 106,
    "roles/hosts/test_hardening.py": 98,
    "roles/slurm/test_slurm_changes.py": 86,
    "roles/hosts/test_users.py": 69,
    "roles/hosts/test_site_dns.py": 53,
    "roles/slurm/test_burst.py": 45,
}


def longest_first(path: Path) -> int:
    """Return the key by which files are sorted, the longest first."""
    return -SECONDS.get(path.relative_to(TESTS).as_posix(), 0) if path.is_relative_to(TESTS) else 0
