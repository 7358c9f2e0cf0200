"""Daemon of a model server's host: a pass every 5 seconds.

    python -m landbridge.serving.host.daemon [--config FILE] [--once]

It opens connections to the model gateway only, with the token of a file that root reads. SIGTERM and SIGINT
stop it between two passes. It may be killed at any point.
"""

import argparse
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from landbridge.host_lock import lock_host
from landbridge.serving.host.config import HostConfig, HostConfigError, load_host_config
from landbridge.serving.host.gateway_export import ExportError, GatewayExport, HostedService
from landbridge.serving.host.install import collect, install
from landbridge.serving.host.slots import UnitError, linked, set_slot
from landbridge.serving.load import FolderRefusal, read_trust
from landbridge.systemd import notify

CONFIG = "/etc/landbridge/models/host.json"
_ENDS = (signal.SIGTERM, signal.SIGINT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal stops the daemon; return 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="landbridge.serving.host.daemon")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--once", action="store_true", help="run one pass and exit")
    options = parser.parse_args(argv)
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        config = load_host_config(options.config)
        token = config.token.read_text().strip()
        lock = lock_host(config.models / ".lock")
    except (HostConfigError, OSError) as error:
        log(f"cannot start: {error}")
        return 1
    with lock:
        one_pass = HostPass(config, GatewayExport(config, token), log)
        if options.once:
            one_pass.run()
            return 0
        notify("READY=1")
        while True:
            one_pass.run()
            notify("WATCHDOG=1")
            if signal.sigtimedwait(_ENDS, config.interval_seconds) is not None:
                break
        notify("STOPPING=1")
    return 0


def log(text: str) -> None:
    """Write a line to the service's log: standard error, which systemd keeps."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class HostPass:
    """Passes over the services of a host. A fault is logged once until it changes."""

    config: HostConfig
    export: GatewayExport
    log: Callable[[str], None]
    _said: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Make a pass. A service that the gateway does not name stays as it is."""
        try:
            services = self.export.services()
        except ExportError as error:
            self._say("gateway", str(error))
            return
        self._say("gateway", "")
        for name in services.keys() & self.config.services.keys():
            try:
                self._one(name, services[name])
                self._say(name, "")
            except (ExportError, FolderRefusal, UnitError, OSError, subprocess.TimeoutExpired) as error:
                self._say(name, str(error))

    def _one(self, name: str, wanted: HostedService) -> None:
        service, place = self.config.services[name], self.config.models / name
        trust = read_trust(self.config.trust)
        faults = []
        for slot, unit in service.units.items():
            version = wanted.slots.get(slot, "")
            try:
                if version:
                    download = partial(self.export.download, service.model, version)
                    install(place, service, version, trust, download, wanted.digests.get(version, ""))
                if set_slot(self.config.systemctl, place, slot, unit, version):
                    self.log(f"{name}: slot {slot} has version {version or 'none'}")
            except (ExportError, FolderRefusal, UnitError) as error:
                # The other slot continues: a refused candidate does not prevent the champion from getting its slot.
                faults.append(f"slot {slot}: {error}")
        collect(place, {*wanted.slots.values(), *(linked(place, slot) for slot in service.units)})
        if faults:
            raise FolderRefusal("; ".join(faults))

    def _say(self, subject: str, text: str) -> None:
        if self._said.get(subject, "") != text:
            self._said[subject] = text
            self.log(f"{subject}: {text or 'no fault any more'}")


if __name__ == "__main__":
    sys.exit(main())
