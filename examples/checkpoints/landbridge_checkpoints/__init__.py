"""Checkpoints that cross sites: saved on a local disk, sent to a bucket, restored from where the newest one is."""

from landbridge_checkpoints.latest import Superseded
from landbridge_checkpoints.manifest import Damaged
from landbridge_checkpoints.objects import Unreachable
from landbridge_checkpoints.shards import ShardedCheckpoints
from landbridge_checkpoints.stopping import StopSignals
from landbridge_checkpoints.store import URL, CheckpointStore, Restored

__all__ = [
    "URL",
    "CheckpointStore",
    "Damaged",
    "Restored",
    "ShardedCheckpoints",
    "StopSignals",
    "Superseded",
    "Unreachable",
]
