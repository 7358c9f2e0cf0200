"""Two clocks: the true time of the world and the clock of the controller host, which may jump."""

START = 1_800_000_000.0  # 2027-01-15: in the middle of a month


class Clock:
    """`true` is AWS's time; the controller host (Slurm and the daemon) sees `now`, which is off by `skew`."""

    def __init__(self) -> None:
        self.true = START
        self.skew = 0.0

    @property
    def now(self) -> float:
        return self.true + self.skew
