"""Put and stage of a dataset beside rclone and the AWS CLI, against a local S3 with TLS: `python -m bench.datasets`.

The local S3 is versitygw; its data, the source and the staged files are in a folder of memory. Programs that PATH lacks
are not measured.
"""

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Contender, Failed, once

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")
ADDRESS, BUCKET, NAME = "127.0.0.1:17070", "bench-bucket", "bench"
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench-secret", "AWS_DEFAULT_REGION": "us-east-1"}
#: Names and sizes of the sources: number of files and bytes of each.
SOURCES = {"large": (16, 64 * 2**20), "small": (10_000, 2_000)}


class Unavailable(Exception):
    """Program that is not installed."""


@dataclass(frozen=True)
class Place:
    """Folders of one measurement."""

    root: Path

    def source(self, kind: str) -> Path:
        return self.root / "source" / kind

    @property
    def bucket(self) -> Path:
        return self.root / "s3" / BUCKET

    @property
    def target(self) -> Path:
        return self.root / "target"

    @property
    def certificate(self) -> Path:
        return self.root / "certificate.pem"


def make_source(folder: Path, files: int, size: int) -> None:
    """Write files of random bytes, a thousand in a folder."""
    generator = random.Random(files)
    for number in range(files):
        path = folder / f"{number // 1000:03}" / f"{number:06}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(generator.randbytes(size))


@contextmanager
def local_s3(place: Place) -> Iterator[dict[str, str]]:
    """Run versitygw; yield the variables with which every program reaches it. Raises Unavailable."""
    program = shutil.which("versitygw")
    if program is None:
        raise Unavailable("no versitygw in PATH")
    place.bucket.mkdir(parents=True)
    key = place.root / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(place.certificate), *subject]
    subprocess.run(command, check=True, capture_output=True)
    command = [program, "--port", ADDRESS, "--cert", str(place.certificate), "--key", str(key), "--quiet"]
    roots = {"ROOT_ACCESS_KEY": KEYS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": KEYS["AWS_SECRET_ACCESS_KEY"]}
    with (place.root / "s3.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "posix", str(place.root / "s3")], env={**os.environ, **roots}, stdout=log, stderr=log
        )
    try:
        _wait_for(server)
        variables = {**KEYS, "AWS_ENDPOINT_URL": f"https://{ADDRESS}", "AWS_CA_BUNDLE": str(place.certificate)}
        yield {**variables, "BENCH_BUCKET": BUCKET, "AWS_EC2_METADATA_DISABLED": "true"}
    finally:
        server.terminate()
        server.wait()


def _wait_for(server: "subprocess.Popen[bytes]") -> None:
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for _ in range(100):
        try:
            urllib.request.urlopen(f"https://{ADDRESS}/", timeout=5, context=context)
        except urllib.error.HTTPError:
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise Unavailable("versitygw does not listen")


def contenders(place: Place, variables: dict[str, str], kind: str, operation: str) -> dict[str, Contender]:
    """Return the programs for one operation."""
    source, target = place.source(kind), place.target
    programs: dict[str, tuple[str, ...]] = {}
    local = source if operation == "put" else target / "folder"
    programs["landbridge"] = (
        sys.executable,
        "-m",
        "bench.dataset_process",
        operation,
        str(local),
        str(target / "store"),
    )
    rclone, aws = shutil.which("rclone"), shutil.which("aws")
    remote, uri = f":s3:{BUCKET}/{NAME}", f"s3://{BUCKET}/{NAME}"
    if rclone is not None:
        options = [
            "--config",
            "/dev/null",
            "--s3-provider",
            "Other",
            "--s3-env-auth",
            "--s3-endpoint",
            f"https://{ADDRESS}",
        ]
        options += [
            "--ca-cert",
            str(place.certificate),
            "--transfers",
            "8" if kind == "large" else "32",
            "--checkers",
            "8",
        ]
        pair = (str(source), remote) if operation == "put" else (remote, str(target / "folder"))
        programs["rclone"] = (rclone, "copy", *options, *pair)
    if aws is not None:
        pair = (str(source), uri) if operation == "put" else (uri, str(target / "folder"))
        programs["aws s3 cp"] = (aws, "s3", "cp", "--recursive", "--only-show-errors", *pair)
    # rclone has an option of its own, and refuses this variable.
    without = {**variables, "AWS_CA_BUNDLE": ""}
    return {
        name: Contender(name, command, without if name == "rclone" else variables) for name, command in programs.items()
    }


def measure(place: Place, variables: dict[str, str], kind: str, runs: int) -> None:
    """Measure put and stage in turns, and print a row for each program."""
    count, size = SOURCES[kind]
    make_source(place.source(kind), count, size)
    seconds: dict[tuple[str, str], list[float]] = {}
    processor: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for name in contenders(place, variables, kind, "put"):
            for operation in ("put", "stage"):
                if operation == "put":
                    shutil.rmtree(place.bucket)
                    place.bucket.mkdir()
                shutil.rmtree(place.target, ignore_errors=True)
                place.target.mkdir()
                contender = contenders(place, variables, kind, operation)[name]
                before = _processor_seconds()
                seconds.setdefault((operation, name), []).append(once(contender, ROOT).seconds)
                processor.setdefault((operation, name), []).append(_processor_seconds() - before)
    shutil.rmtree(place.source(kind))
    total = count * size
    print(
        f"\n{count:,} files, {total / 2**20:,.0f} MiB; {runs} runs in turns; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
    )
    print(f"{'':24} {'median s':>9} {'min':>7} {'max':>7} {'MiB/s':>8} {'x landbridge':>13} {'CPU s':>7}")
    for (operation, name), durations in sorted(seconds.items()):
        median = statistics.median(durations)
        ratio = median / statistics.median(seconds[operation, "landbridge"])
        rate = total / 2**20 / median
        print(
            f"{operation + ', ' + name:24} {median:9.2f} {min(durations):7.2f} {max(durations):7.2f} {rate:8.1f} {ratio:13.2f}"
            f" {statistics.median(processor[operation, name]):7.2f}"
        )


def _processor_seconds() -> float:
    """Return the CPU time of all programs that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Return 0 when all programs could be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.datasets", description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=SOURCES, help="measure only this source")
    options = parser.parse_args()
    for kind in [options.only] if options.only else SOURCES:
        with tempfile.TemporaryDirectory(prefix="landbridge-bench-", dir=MEMORY) as folder:
            place = Place(Path(folder))
            try:
                with local_s3(place) as variables:
                    measure(place, variables, kind, options.runs)
            except (Unavailable, Failed) as error:
                print(f"datasets could NOT be measured here: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
