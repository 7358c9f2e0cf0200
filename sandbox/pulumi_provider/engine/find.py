"""Search for a Pulumi engine: PATH, the cache, Pulumi's installer, a build from source, in this order."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from landbridge.paths import cache_dir
from sandbox.pulumi_provider.engine import build
from sandbox.pulumi_provider.engine.build import CannotBuild, Progress

#: Oldest engine that has been tested with the sandbox's plugins and the SDK.
OLDEST_VERSION = (3, 220, 0)
INSTALL_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Engine:
    """Pulumi engine: program, version and origin (`path`, `cache`, `installer` or `build`)."""

    program: Path
    version: str
    origin: str


@dataclass(frozen=True)
class NoEngine:
    """Error: no engine could be found or built; `tried` has one line per attempt."""

    tried: tuple[str, ...]

    def __str__(self) -> str:
        return "no Pulumi engine: " + "; ".join(self.tried)


def cached_program() -> Path:
    """Return the path of an engine that this module installed or built; it may not exist."""
    return cache_dir() / "engine" / build.engine_version() / "bin" / "pulumi"


def find_engine() -> Engine | NoEngine:
    """Return the engine that is already on this host, without network access."""
    tried = []
    on_path = shutil.which("pulumi")
    for program, origin in ((Path(on_path) if on_path else None, "path"), (cached_program(), "cache")):
        if program is None or not program.is_file():
            tried.append("none on PATH" if origin == "path" else "none in the cache")
            continue
        version = version_of(program)
        if version is None:
            tried.append(f"{program} does not answer `pulumi version`")
        elif tuple(map(int, re.findall(r"\d+", version)[:3])) < OLDEST_VERSION:
            tried.append(f"{program} is {version}, older than {'.'.join(map(str, OLDEST_VERSION))}")
        else:
            return Engine(program.resolve(), version, origin)
    return NoEngine(tuple(tried))


def get_engine(progress: Progress) -> Engine | NoEngine:
    """Return the engine on this host, or install or build one in the cache."""
    engine = find_engine()
    if isinstance(engine, Engine):
        return engine
    tried = list(engine.tried)
    reason = _install(progress)
    if reason is None:
        return Engine(cached_program(), build.engine_version(), "installer")
    tried.append(reason)
    try:
        return Engine(build.build(cache_dir(), progress), build.engine_version(), "build")
    except CannotBuild as error:
        return NoEngine((*tried, str(error)))


def version_of(program: Path) -> str | None:
    """Return the version that a program reports; None if its answer is not Pulumi's."""
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(
            [program, "version"], capture_output=True, text=True, timeout=30, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if re.fullmatch(r"v\d+\.\d+\.\d+\S*", answer.stdout.strip()) else None


def _install(progress: Progress) -> str | None:
    """Run Pulumi's installer into the cache; return the reason of a failure, or None."""
    if os.environ.get("LANDBRIDGE_OFFLINE"):
        return "Pulumi's installer: LANDBRIDGE_OFFLINE is set"
    home = cached_program().parent.parent
    home.mkdir(parents=True, exist_ok=True)
    progress(f"running Pulumi's installer for {build.engine_version()}")
    # In a separate process: the installer has no timeout, and runs a downloaded script.
    code = (
        "import socket, sys, semver; socket.setdefaulttimeout(5)\n"
        "from pulumi.automation import PulumiCommand\n"
        "PulumiCommand.install(root=sys.argv[1], version=semver.VersionInfo.parse(sys.argv[2]))"
    )
    with tempfile.TemporaryDirectory(dir=home, prefix="install.") as scratch:
        command = [sys.executable, "-c", code, scratch, build.engine_version().removeprefix("v")]
        try:
            answer = subprocess.run(
                command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"Pulumi's installer: not done after {INSTALL_TIMEOUT_SECONDS} s"
        installed = Path(scratch) / "bin"
        if answer.returncode != 0 or version_of(installed / "pulumi") is None:
            lines = answer.stderr.strip().splitlines()
            return f"Pulumi's installer: {lines[-1][:160] if lines else 'it installed nothing'}"
        if not cached_program().parent.exists():
            installed.rename(cached_program().parent)
    return None
