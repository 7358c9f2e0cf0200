"""Demonstration of a model's life: `python -m sandbox.model_life [--json FILE]`."""

import argparse
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from landbridge.findings import FindingsError
from landbridge.live.models.registry import RegistryError
from sandbox.demo.report import DemoError, DemoReport

STOPPED = 130
ENDS = {
    "loopback": "The pipeline that trains on both sites is not part of this level; with the lab of `make demo`: make demo-mlops LEVEL=full.",
    "full": "",
}


def main(argv: list[str] | None = None) -> int:
    """Run the demonstration; return 0 if all steps had their outcome, and 1 if one had not."""
    parser = argparse.ArgumentParser(prog="make demo-mlops", description=__doc__)
    parser.add_argument("--json", type=Path, help="where to write the steps and their outcomes")
    parser.add_argument(
        "--level",
        choices=list(ENDS),
        default="loopback",
        help="loopback, or full: with a pipeline in the lab that is up",
    )
    options = parser.parse_args(argv)
    os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_LOGGING_LEVEL="WARNING", DO_NOT_TRACK="1")
    signal.signal(signal.SIGTERM, _stop)
    report, outcomes, status = DemoReport("A model's life"), dict[str, Any](), 0
    try:
        level = importlib.import_module(
            f"sandbox.model_life.{'life' if options.level == 'loopback' else options.level}"
        )
        with report.live():
            level.run(report, outcomes)
    except FindingsError as error:
        status = 1
        for finding in error.findings:
            report.console.print(f"\nerror: {finding.message}", markup=False, style="red")
    except (DemoError, RegistryError, OSError) as error:
        status = 1
        report.console.print(f"\nerror: {error}", markup=False, style="red")
        if fix := getattr(error, "fix", ""):
            report.console.print(f"  fix: {fix}", markup=False)
    except KeyboardInterrupt:
        status = STOPPED
    report.console.print(f"{report.seconds():.0f} s in all. {ENDS[options.level]}", markup=False)
    if options.json is not None:
        options.json.write_text(json.dumps({**report.as_dict(), "outcomes": outcomes}, indent=2) + "\n")
    return status


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
