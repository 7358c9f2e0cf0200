"""`python -m sandbox.aws_emulator`: serve the emulated AWS until SIGTERM or SIGINT, then stop its machines."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

_CHECK_SECONDS = 2


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sandbox.aws_emulator", description=__doc__)
    parser.add_argument("--listen", action="append", default=[], metavar="ADDRESS:PORT", help="in this namespace")
    parser.add_argument("--netns", help="the network namespace of --listen-netns, and of --imds when given")
    parser.add_argument("--listen-netns", action="append", default=[], metavar="ADDRESS:PORT")
    parser.add_argument("--imds", metavar="ADDRESS:PORT", help="address of the instance metadata service")
    parser.add_argument("--launcher", choices=["none", "process", "lab"], default="none")
    parser.add_argument("--process-command", default="", help="command that --launcher process runs for each instance")
    parser.add_argument(
        "--boot-delay", type=float, default=1.0, metavar="SECONDS", help="pending before the machine starts"
    )
    parser.add_argument(
        "--require-credentials", action="store_true", help="refuse access keys that the emulator did not issue"
    )
    parser.add_argument("--reserve", action="append", default=[], metavar="ADDRESS", help="never given to an instance")
    parser.add_argument(
        "--managed-policies", action="store_true", help="load the 1,500 AWS managed policies; a second slower"
    )
    parser.add_argument("--with-parent", action="store_true", help="also stop when the parent process ends")
    parser.add_argument("--state", type=Path, required=True, metavar="DIR", help="credentials, logs, ready.json")
    arguments = parser.parse_args()
    if not arguments.listen:
        parser.error("at least one --listen is needed")
    if arguments.listen_netns and not arguments.netns:
        parser.error("--listen-netns needs --netns")
    if arguments.launcher == "process" and not arguments.process_command:
        parser.error("--launcher process needs --process-command")
    return arguments


def main() -> int:
    parent = os.getppid()
    arguments = _arguments()
    # Ports first: an error in them is reported at once, and moto takes two seconds to import.
    from sandbox.aws_emulator.server.listening_sockets import ListenError, listen, parse

    try:
        api = [listen(address) for address in arguments.listen]
        api += [listen(address, arguments.netns) for address in arguments.listen_netns]
        imds = listen(arguments.imds, arguments.netns) if arguments.imds else None
        reserved = [*arguments.reserve, *(parse(address)[0] for address in arguments.listen_netns)]
    except ListenError as error:
        print(f"emulated AWS: {error}", file=sys.stderr)
        return 2

    # moto reads these when it is imported. 1,300 unused images cost two seconds.
    os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", str(arguments.managed_policies).lower())
    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    from sandbox import botocore_files

    botocore_files.share()
    from sandbox.aws_emulator.ec2.actions import install
    from sandbox.aws_emulator.emulator_state import EmulatorState
    from sandbox.aws_emulator.identity.access_keys import AccessKeys, stored_pair
    from sandbox.aws_emulator.instances.imds import MetadataService
    from sandbox.aws_emulator.instances.lifecycle import InstanceLifecycle
    from sandbox.aws_emulator.instances.make_launcher import make_launcher
    from sandbox.aws_emulator.instances.moto_instances import mark
    from sandbox.aws_emulator.instances.shutdown import watch
    from sandbox.aws_emulator.network.private_addresses import AddressBook
    from sandbox.aws_emulator.server.application import Application
    from sandbox.aws_emulator.server.wsgi_server import ApiHandler, MetadataHandler, serve
    from sandbox.aws_emulator.storage import bucket_policy

    endpoints = ["http://{}:{}".format(*sock.getsockname()) for sock in api]
    metadata = "{}:{}".format(*imds.getsockname()) if imds else None
    keys = AccessKeys(required=arguments.require_credentials)
    for name in ("operator", "launch"):
        keys.add(stored_pair(arguments.state / "credentials" / name))
    launcher = make_launcher(arguments.launcher, arguments.state, command=arguments.process_command, imds=metadata)
    lifecycle = InstanceLifecycle(launcher, mark, boot_delay=arguments.boot_delay)
    emulator = EmulatorState(lifecycle, AddressBook(reserved))
    install(emulator)
    bucket_policy.install()
    application = Application(emulator, keys)

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    servers = [serve(application, sock, ApiHandler) for sock in api]
    if imds:
        servers.append(serve(MetadataService(emulator, keys), imds, MetadataHandler))
    watch(emulator, ended)
    ready = {"pid": os.getpid(), "endpoints": endpoints, "imds": metadata}
    (arguments.state / "ready.json").write_text(json.dumps(ready))
    print(json.dumps(ready), flush=True)
    while not ended.wait(_CHECK_SECONDS):
        if arguments.with_parent and os.getppid() != parent:
            break
    for server in servers:
        server.shutdown()
    lifecycle.end_all("Server.Shutdown")
    (arguments.state / "ready.json").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
