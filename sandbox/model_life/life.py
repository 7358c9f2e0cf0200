"""Steps of a model's life, each with its outcome as data."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandbox.demo.report import DemoError, DemoReport
from sandbox.embedded.tracking import serving as tracking_server
from sandbox.model_life import canary, digits, drift, refusals
from sandbox.model_life.clients import DigitClients
from sandbox.model_life.haproxy_program import haproxy_program
from sandbox.model_life.registry import SignedRegistry, signed_registry
from sandbox.model_life.serving import LoopbackServing, loopback_serving

CHAMPION = "champion"
#: Requests between two steps of a canary whose version answers late: each request takes a second or more.
_LATE_LOAD = 60


def run(report: DemoReport, outcomes: dict[str, Any]) -> None:
    """Run all steps in a temporary folder. Raises DemoError for a step with another outcome than expected."""
    with TemporaryDirectory(prefix="landbridge-model-life-") as temporary:
        folder = Path(temporary)
        haproxy_program()
        with tracking_server(folder / "mlflow") as tracking:
            with report.step("start MLflow, and create the site's CA") as step:
                tracking.wait()
                site = signed_registry(tracking.uri, folder)
                step.result = "SQLite, and a signer of models in the store of secrets"
            with report.step("train, register, sign and promote the first version") as step:
                first = _published(site, folder, "first", 12)
                site.promote(first, CHAMPION, "first version")
                step.result = f"digits/{first} is champion"
            with loopback_serving(folder, site) as serving:
                served_life(report, outcomes, serving, first)


def served_life(
    report: DemoReport,
    outcomes: dict[str, Any],
    serving: LoopbackServing,
    first: str,
    trained: Callable[[], str] | None = None,
) -> None:
    """Run the steps from the first served version on. `trained` returns a better version, which is staging; none: it is trained here."""
    site, folder, clients = serving.site, serving.folder, DigitClients(serving)
    with report.step("serve it through HAProxy") as step:
        serving.start("a", site.fetch(first, folder / "models"))
        clients.send(200)
        _expect(clients.errors == 0, f"clients got {dict(clients.statuses)}")
        outcomes["first_accuracy"] = clients.accuracy(first)
        step.result = f"200 answers, {outcomes['first_accuracy']:.1%} right"
    with report.step("canary of a better version") as step:
        better = trained() if trained is not None else _published(site, folder, "better", 60)
        serving.start("b", site.fetch(better, folder / "models"))
        step.result = _canary(outcomes, "better", canary.decide(clients, first, better), "promote")
        _expect(site.champion() == better, f"champion is {site.champion()}")
    with report.step("canary of a version with swapped labels") as step:
        wrong = _published(site, folder, "wrong", 60, are_swapped=True)
        serving.start("a", site.fetch(wrong, folder / "models"))
        step.result = _canary(outcomes, "wrong", canary.decide(clients, better, wrong), "roll_back")
        _expect(site.champion() == better, f"champion is {site.champion()}")
    with report.step("canary of a version whose server crashes") as step:
        crashing = _published(site, folder, "crashing", 40)
        serving.start("a", site.fetch(crashing, folder / "models"))

        def crash(number: int) -> None:
            if number == 1:
                serving.stop("a", is_crash=True)

        step.result = _canary(outcomes, "crashing", canary.decide(clients, better, crashing, crash), "roll_back")
        _expect(site.champion() == better, f"champion is {site.champion()}")
    with report.step("canary of a version that answers late") as step:
        late = _published(site, folder, "late", 60, is_slow=True)
        serving.start("a", site.fetch(late, folder / "models"))
        step.result = _canary(outcomes, "late", canary.decide(clients, better, late, load=_LATE_LOAD), "roll_back")
        _expect(outcomes["late"]["reason"].startswith("latency: "), outcomes["late"]["reason"])
    with report.step("canary of a version that is unsure of each answer") as step:
        unsure = _published(site, folder, "unsure", 60, scale=0.05)
        serving.start("a", site.fetch(unsure, folder / "models"))
        step.result = _canary(outcomes, "unsure", canary.decide(clients, better, unsure), "roll_back")
        _expect(outcomes["unsure"]["reason"].startswith("drift: "), outcomes["unsure"]["reason"])
        _expect(site.champion() == better, f"champion is {site.champion()}")
    model = folder / "models" / "digits" / better
    with report.step("folders that are refused at load") as step:
        outcomes["refused"] = dict(refusals.refused_folders(serving, model))
        for case, reason in outcomes["refused"].items():
            step.note(f"{case}: {reason}")
        step.result = f"{len(outcomes['refused'])} refused"
    with report.step("drift of the inputs") as step:
        _expect(drift.window(clients, "b", model, "usual", is_shifted=False) is None, "the usual inputs have drift")
        trigger = drift.window(clients, "b", model, "shifted", is_shifted=True)
        _expect(trigger is not None, "the shifted inputs have no drift")
        outcomes["trigger"] = trigger
        step.result = "none in the usual window; the shifted one wrote the trigger of a retraining"
    outcomes |= {
        "history": site.records(),
        "champion": site.champion(),
        "versions": [first, better, wrong, crashing, late, unsure],
    }


def _published(site: SignedRegistry, folder: Path, name: str, passes: int, **flaws: Any) -> str:
    digits.train(folder / name, folder, passes=passes, **flaws)
    return site.publish(folder / name)


def _canary(outcomes: dict[str, Any], name: str, outcome: canary.CanaryOutcome, expected: str) -> str:
    outcomes[name] = {"action": str(outcome.action), "reason": outcome.reason, "requests": outcome.requests}
    outcomes[name]["errors"] = outcome.errors
    _expect(outcome.action == expected, f"the canary decided {outcome.action}: {outcome.reason}")
    _expect(outcome.errors == 0, f"{outcome.errors} of {outcome.requests} requests got an error")
    decided = "promoted" if expected == "promote" else "rolled back"
    return f"{decided}: {outcome.reason} ({outcome.requests} requests, no error)"


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise DemoError(message)
