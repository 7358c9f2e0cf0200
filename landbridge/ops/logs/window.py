"""Window of logs before now, in the words of journalctl and of sacct. Pure."""

import re
from dataclasses import dataclass

#: Units of this option, of journalctl (systemd.time(7)) and of sacct (--starttime).
_UNITS = {"min": "minutes", "h": "hours", "d": "days"}
_SECONDS = {"min": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class LogWindow:
    """Time before now from which logs are taken."""

    number: int
    unit: str

    @property
    def journal(self) -> str:
        """Return the start for journalctl."""
        return f"-{self.number}{self.unit}"

    @property
    def slurm(self) -> str:
        """Return the start for sacct."""
        return f"now-{self.number}{_UNITS[self.unit]}"

    @property
    def seconds(self) -> int:
        """Return its length."""
        return self.number * _SECONDS[self.unit]


def log_window(text: str) -> LogWindow | None:
    """Return the window of a text such as 90min, 6h or 3d; None for another text."""
    match = re.fullmatch(r"([1-9]\d{0,4})(min|h|d)", text)
    return LogWindow(int(match[1]), match[2]) if match else None
