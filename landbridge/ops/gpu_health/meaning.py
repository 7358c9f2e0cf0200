"""Meaning of each state, and the next action of an operator."""

from collections.abc import Mapping

from landbridge.ops.gpu_health.values import HealthState

_NOTHING = "nothing to do"
#: Meaning and instruction by state.
MEANINGS: Mapping[HealthState, tuple[str, str]] = {
    HealthState.HEALTHY: ("its GPUs have no fault", _NOTHING),
    HealthState.SUSPECT: (
        "its GPUs have had faults that do not require a repair, or another party drained it",
        _NOTHING,
    ),
    HealthState.DRAINING: ("no further job starts; the repair begins when the last job has ended", _NOTHING),
    HealthState.RESETTING: ("its faulty GPUs are reset", _NOTHING),
    HealthState.REBOOTING: ("it restarts", _NOTHING),
    HealthState.RETESTING: ("the acceptance checks run on it, in a reservation", _NOTHING),
    HealthState.RETURNED: ("it is in service again after a repair or an operator's decision", _NOTHING),
    HealthState.QUARANTINED: (
        "its fault returned after each repair, or a repair had no result: it stays drained",
        "inspect it, then resume it: landbridge node resume",
    ),
    HealthState.RMA: (
        "a GPU needs work on the hardware: it stays drained",
        "report it: landbridge health rma; then replace the part (docs/how-to/replace-a-gpu.md)",
    ),
}
