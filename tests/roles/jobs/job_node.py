"""Stand-in of a node for the job program: its folders, and the environment that Slurm sets."""

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

#: The environment of an Epilog of slurmd 26.05 in the lab, without the variables that name the host.
RECORDED = {
    "SLURM_CLUSTER_NAME": "jobs",
    "SLURM_JOBID": "7",
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_UID": str(os.getuid()),
    "SLURM_UID": str(os.getuid()),
    "SLURM_JOB_GPUS": "2,3",
    "SLURM_JOB_PARTITION": "gpu",
    "SLURM_SCRIPT_CONTEXT": "epilog_slurmd",
}
#: Stand-in of nvidia-smi that records its arguments and runs the test's script.
SMI = """#!/bin/sh
echo "$*" >> {folder}/calls
{does}
"""
ADDRESSES = ("00000000:5D:00.0", "00000000:1B:00.0", "00000000:43:00.0", "00000000:52:00.0")


class Node:
    """A node's folders, with the job program's settings for them."""

    def __init__(self, module: ModuleType, folder: Path) -> None:
        self.module, self.folder, self.root = module, folder, folder / "jobs"
        self.settings: dict[str, Any] = {"root": str(self.root), "gpus": str(folder / "gpus"), "grace": 0.2}
        # On real machines the order of the device files differs from the order on the bus.
        for minor, address in enumerate(ADDRESSES):
            (folder / "gpus" / address).mkdir(parents=True)
            (folder / "gpus" / address / "information").write_text(
                f"Model: \t\t NVIDIA H100 80GB HBM3\nBus Location: \t {address}\nDevice Minor: \t {minor}\n"
            )

    def run(self, context: str, **changes: str | None) -> int:
        environ = {**RECORDED, "SLURM_SCRIPT_CONTEXT": context, **changes}
        (self.folder / "job.json").write_text(json.dumps(self.settings))
        return int(self.module.main({key: value for key, value in environ.items() if value is not None}))

    def smi(self, does: str = "exit 0") -> None:
        program = self.folder / "bin/nvidia-smi"
        program.parent.mkdir(exist_ok=True)
        program.write_text(SMI.format(folder=self.folder, does=does))
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def failed(self) -> str:
        path = self.folder / "run/job.failed"
        return path.read_text().strip() if path.exists() else ""
