"""Demonstration command: `python -m sandbox.demo [--level full|embedded] [-s ENVIRONMENT]`."""

import argparse
import importlib.util
import os
import signal
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType

from landbridge.findings import FindingsError
from sandbox.demo import machine
from sandbox.demo.report import DemoError, DemoReport

STOPPED = 130


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--level", choices=["full", "embedded"], help="default: the highest that this machine supports")
    parser.add_argument("-s", "--stack", default="sandbox", help="the environment, stacks/Pulumi.<name>.yaml")
    parser.add_argument("--json", type=Path, help="where to write the report (default: the environment's state folder)")
    return parser.parse_args(argv)


def why_not_full() -> str:
    """Return the reason why the full level cannot run here; empty if it can."""
    if importlib.util.find_spec("sandbox.demo.full") is None:
        return "this checkout has no full level"
    lab = machine.lab()
    return "" if lab.able else lab.why


def get_engine(report: DemoReport) -> str:
    """Find, build or download a Pulumi engine; return the reason if that is impossible, else an empty string."""
    from sandbox.pulumi_provider.engine.find import NoEngine
    from sandbox.pulumi_provider.engine.find import get_engine as get

    with report.step("Pulumi engine") as step:
        engine = get(step.note)
        if isinstance(engine, NoEngine):
            for attempt in engine.tried:
                step.note(attempt)
            step.result = "none; the graph is applied without it"
            return str(engine)
        step.result = f"{engine.version}, from {engine.origin}"
    return ""


def _early_download(skip: bool) -> AbstractContextManager[None]:
    """Download packages of the full level while the engine is built."""
    if skip:
        return nullcontext()
    from sandbox.nspawn.host.early_download import early_download

    return early_download()


def main(argv: list[str] | None = None) -> int:
    """Run the demonstration; return 0 if all steps passed, 1 if one failed, 2 if it cannot start."""
    options = arguments(argv)
    # A demonstration connects only to programs that it starts itself.
    os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="1", PULUMI_SKIP_UPDATE_CHECK="true")
    signal.signal(signal.SIGTERM, _stop)
    report = DemoReport("Landbridge demonstration")
    status, json_path = 1, options.json or _default_json(options.stack)
    try:
        from landbridge.environment import find_environment

        path = find_environment(options.stack)
        refusal = "" if options.level == "embedded" else why_not_full()
        if options.level == "full" and refusal:
            raise DemoError(
                f"the full level cannot run here: {refusal}", "make demo LEVEL=embedded needs no privileges"
            )
        with report.live(), _early_download(skip=options.level == "embedded" or bool(refusal)):
            engine_refusal = get_engine(report)
            full = options.level != "embedded" and not refusal and (options.level == "full" or not engine_refusal)
            if full:
                from sandbox.demo.full import run
                from sandbox.nspawn.from_environment import of_lab
                from sandbox.nspawn.layout import layout

                path = of_lab(path, layout())
            else:
                from sandbox.embedded.demo import run
            report.level = "full" if full else "embedded"
            if not full and options.level is None:
                report.console.print(f"Embedded level, because: {refusal or engine_refusal}", markup=False)
            status = run(path, report)
    except (DemoError, FindingsError) as error:
        report.console.print(f"\nerror: {error}", markup=False, style="red")
        if fix := getattr(error, "fix", ""):
            report.console.print(f"  fix: {fix}", markup=False)
        status = 1 if report.level else 2
    except Exception as error:  # noqa: BLE001 - the summary of successful steps is printed after any failure
        report.console.print(f"\nerror: {type(error).__name__}: {error}", markup=False, style="red")
        if os.environ.get("LANDBRIDGE_DEBUG"):
            report.console.print_exception()
        else:
            report.console.print("  LANDBRIDGE_DEBUG=1 shows a traceback; `make down` removes leftovers", markup=False)
    except KeyboardInterrupt:
        report.console.print("\nstopped; `make down` removes leftovers", markup=False)
        status = STOPPED
    if report.level:
        report.summary()
        report.save(json_path)
    return status


def _default_json(stack: str) -> Path:
    """Return the report's default path. Called before the level starts, since it may change the state folder."""
    from landbridge.paths import state_dir

    return state_dir(stack) / "demo.json"


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
