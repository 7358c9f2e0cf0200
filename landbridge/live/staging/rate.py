"""Measured rate of transfers, from the ledger."""

from statistics import median

from landbridge.live.datasets import TransferLedger

#: A transfer of fewer bytes measures the time of its requests.
_LEAST_BYTES = 2**20
_TRANSFERS = 20


def measured_rate(ledger: TransferLedger, command: str, default: float | None = None) -> float | None:
    """Return bytes per second: the median of the last 20 transfers of a command; without one, `default`."""
    rates = []
    commands: dict[str, str] = {}
    for line in ledger.lines():
        if line.get("event") == "begin":
            commands[str(line.get("transfer"))] = str(line.get("command"))
        elif line.get("event") == "end" and commands.get(str(line.get("transfer"))) == command:
            moved, seconds = line.get("read_bytes" if command == "stage" else "bytes"), line.get("seconds")
            if isinstance(moved, int) and isinstance(seconds, int | float) and moved >= _LEAST_BYTES and seconds > 0:
                rates.append(moved / seconds)
    return median(rates[-_TRANSFERS:]) if rates else default
