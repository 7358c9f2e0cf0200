"""Service of a model server.

    python -m landbridge.serving.server.service --config FILE [--check]

It loads the model folder after every check of it, and answers until SIGTERM: then it is not ready first, answers the requests that it
has, and ends. A refused folder or setting ends it with status 1 and one line.
"""

import argparse
import signal
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from landbridge.serving.load import ExpectedModel, FolderRefusal, read_model
from landbridge.serving.server.config import ModelServerConfigError, load_server_config
from landbridge.serving.server.http import ModelHttpServer
from landbridge.serving.server.predictor import Predictor

#: Longest time for requests that have begun when the server ends.
_FINISH_SECONDS = 30.0
_ENDS = (signal.SIGTERM, signal.SIGINT)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM; return 1 if the settings or the model folder are refused."""
    parser = argparse.ArgumentParser(prog="landbridge.serving.server.service")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="verify and load the model folder, and exit")
    options = parser.parse_args(argv)
    # Threads inherit the mask: only this one takes the signals, after the model is loaded.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        config = load_server_config(options.config)
        expected = ExpectedModel(config.model, config.data_class)
        predictor = Predictor(config, read_model(Path(config.folder), Path(config.trust), expected))
        if options.check:
            _log(f"{predictor.manifest.name} version {predictor.manifest.version} is accepted")
            return 0
        server = ModelHttpServer(config, predictor)
    except (ModelServerConfigError, FolderRefusal) as error:
        _log(f"refused: {error}")
        return 1
    except ssl.SSLError as error:
        _log(f"refused: {config.certificate}: {error.reason or error}")
        return 1
    except OSError as error:
        _log(f"refused: {config.listen}:{config.port}: {error.strerror or error}")
        return 1
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    _log(
        f"{predictor.manifest.name} version {predictor.manifest.version} is ready at {config.listen}:{server.server_port}"
    )
    signal.sigwait(_ENDS)
    predictor.drain(config.drain_seconds)
    server.shutdown()
    server.server_close()
    if not predictor.finish(_FINISH_SECONDS):
        _log("some requests did not end in time")
    return 0


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
