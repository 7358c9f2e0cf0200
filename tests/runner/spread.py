"""Distribution of test files to processes: files of a folder with a lab of its own run in one process, one after the other."""

from pathlib import Path
from typing import Any

from xdist.scheduler import LoadFileScheduling

#: Module of a folder whose test files share one lab by a fixture of scope "package".
LAB = "lab.py"


class OneProcessForEachLab(LoadFileScheduling):
    """pytest-xdist's `loadfile`, with the folder instead of the file where the folder has a lab of its own."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        folder = Path(file).parent
        return folder.as_posix() if (self.config.rootpath / folder / LAB).is_file() else file


def scheduler(config: Any, log: Any) -> OneProcessForEachLab | None:
    """Return the scheduler of `--dist=loadfile`; None for the other modes."""
    return OneProcessForEachLab(config, log) if config.getvalue("dist") == "loadfile" else None
