"""Benchmark of the replay of a queue: jobs per second and memory, beside AccaSim in the same run: `python -m bench.replay`.

Each run is a whole process, with its start and the reading of the queue. The queue is generated, or that of `--trace`.
"""

import argparse
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import accasim
from bench.measure import Contender, Failed, take_turns

ROOT = Path(__file__).resolve().parent.parent
OURS, HARD, LARGE = "landbridge replay", "with failures and fair share", "landbridge replay, large queue"


def generated(jobs: int, path: Path) -> None:
    """Write a queue as CSV: mostly short jobs of one GPU, some of days, that need nine tenths of the site."""
    generator, now = random.Random(3), 1_500_000_000.0
    with path.open("w") as file:
        file.write("timestamp,duration,num_gpus,cluster\n")
        for _ in range(jobs):
            gpus = generator.choices((1, 2, 4, 8, 16, 32), (80, 4, 5, 8, 2, 1))[0]
            seconds = min(math.exp(generator.gauss(7.2, 1.8)), 3 * 86_400.0)
            now += generator.expovariate(1 / 270.0)
            file.write(f"{now:.0f},{seconds:.0f},{gpus},{generator.choice('abc')}\n")


def main() -> int:
    """Return 0 when the replay could be measured. A peer that cannot be measured is reported only."""
    parser = argparse.ArgumentParser(prog="python -m bench.replay", description=__doc__)
    parser.add_argument("--trace", type=Path, help="a trace file instead of the generated queue")
    parser.add_argument("--jobs", type=int, default=10_000, help="number of generated jobs")
    parser.add_argument("--more", type=int, default=50_000, help="number of jobs of a second queue, without the peer")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true", help="do not install and measure AccaSim")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        path, large = options.trace, folder / "large.csv"
        if path is None:
            path = folder / "queue.csv"
            generated(options.jobs, path)
        generated(options.more, large)
        peer = folder / "peer"
        jobs = {OURS: int(_once("files", path.resolve(), peer)[0]), LARGE: options.more}
        jobs |= {HARD: jobs[OURS], accasim.NAME: jobs[OURS]}
        contenders = [
            Contender(OURS, _words("plain", path.resolve())),
            Contender(HARD, _words("hard", path.resolve())),
            Contender(LARGE, _words("plain", large)),
        ]
        try:
            if not options.no_peer:
                contenders.append(accasim.contender(accasim.install(), peer))
        except accasim.Unavailable as error:
            print(f"AccaSim could NOT be measured here: {error}")
        try:
            figures = take_turns(contenders, options.runs, ROOT)
        except Failed as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
        print(f"replay of {jobs[OURS]:,} jobs on 64 GPUs, whole processes, {options.runs} runs each, in turns")
        print(f"{'':36} {'median s':>9} {'min':>7} {'max':>7} {'jobs/s':>9} {'peak MiB':>9}")
        for contender in contenders:
            figure = figures[contender.name]
            speed = jobs[contender.name] / figure.median
            row = f"{contender.name:36} {figure.median:9.3f} {min(figure.seconds):7.3f} {max(figure.seconds):7.3f}"
            print(f"{row} {speed:9,.0f} {figure.peak_mib:9.1f}")
        if accasim.NAME in figures:
            ours, theirs = figures[OURS], figures[accasim.NAME]
            print(
                f"{theirs.median / ours.median:.1f} times faster, {theirs.peak_mib / ours.peak_mib:.1f} times smaller"
            )
            waits = float(_once("plain", path.resolve())[1]), accasim.mean_wait(peer)
            print(f"mean wait of a job: {waits[0]:,.0f} seconds, AccaSim: {waits[1]:,.0f}")
    return 0


def _words(way: str, path: Path, *more: str) -> tuple[str, ...]:
    return sys.executable, "-m", "bench.replay_once", way, str(path), *more


def _once(way: str, path: Path, *more: Path) -> list[str]:
    """Return the words that one run prints."""
    words = _words(way, path, *map(str, more))
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


if __name__ == "__main__":
    sys.exit(main())
