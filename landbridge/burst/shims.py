"""The programs Slurm runs: ResumeProgram, SuspendProgram and ResumeFailProgram.

They end as soon as AWS has answered; the machines boot afterwards. Heavy imports happen after the resume file is read:
Slurm removes it when the program ends, or after ten seconds.
"""

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from landbridge.burst import slurm
from landbridge.burst.config import Config, ConfigError, load
from landbridge.burst.errors import LaunchProblem
from landbridge.burst.journal import journal
from landbridge.burst.order import JobFacts, ResumeOrder, read_order
from landbridge.hostlist import HostlistError, compress, expand

RESUME_FILE = "SLURM_RESUME_FILE"
Log = Callable[..., None]


def resume(argv: Sequence[str] | None = None) -> int:
    """ResumeProgram: launch instances for the nodes given as the last argument."""
    text = _resume_file()
    return _program("resume", argv, lambda nodes, config, log: _resume(read_order(nodes, text), config, log))


def suspend(argv: Sequence[str] | None = None) -> int:
    """SuspendProgram: end the instances of the nodes given as the last argument."""
    return _program("suspend", argv, _end)


def resume_fail(argv: Sequence[str] | None = None) -> int:
    """ResumeFailProgram: nodes that did not come up in time. Their instances end; Slurm has put the nodes down already."""
    return _program("resume-fail", argv, _end)


def _resume_file() -> str | None:
    path = os.environ.get(RESUME_FILE)
    try:
        return Path(path).read_text() if path else None
    except OSError:
        return None


def _program(name: str, argv: Sequence[str] | None, work: Callable[[str, Config, Log], int]) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        print(f"landbridge-{name}: the node list is missing", file=sys.stderr)
        return 2
    nodes = arguments[-1]  # a PowerAction puts its own options before it
    try:
        config = load()
    except ConfigError as error:
        print(f"landbridge-{name}: {error}", file=sys.stderr)
        if name == "resume":
            _give_up(nodes, LaunchProblem("BurstConfiguration", str(error)))
        return 1
    log = journal(Path(config.log_file), name)
    try:
        return work(nodes, config, log)
    except Exception as error:  # whatever it is: nodes left in POWERING_UP would hold their jobs until ResumeTimeout
        log("failed", nodes=nodes, problem=f"{type(error).__name__}: {error}")
        if name == "resume":
            _give_up(nodes, LaunchProblem("BurstFailure", f"{type(error).__name__}: {error}"))
        raise


def _give_up(nodes: str, problem: LaunchProblem) -> None:
    try:
        slurm.set_down(expand(nodes), problem.reason())
    except (slurm.SlurmError, HostlistError) as error:
        print(f"landbridge-resume: {error}", file=sys.stderr)


def _resume(order: ResumeOrder, config: Config, log: Log) -> int:
    log("order", nodes=list(order.nodes), jobs={job.id: list(job.nodes) for job in order.jobs})
    facts = _facts(order, log)

    # boto3 takes longer to import than everything above takes to run.
    from landbridge.burst.ec2 import Ec2
    from landbridge.burst.errors import AwsError
    from landbridge.burst.launch import execute
    from landbridge.burst.request import plan

    try:
        ec2 = Ec2(config)
        live = [machine.live() for machine in ec2.machines()]
    except AwsError as error:
        log("unreachable", problem=error.problem.reason())
        slurm.set_down(order.nodes, error.problem.reason())
        return 1
    planned = plan(order, facts, config, live, datetime.now(UTC))
    if planned.running:
        log("running-already", nodes=list(planned.running))
    outcome = execute(planned, ec2, config.cluster, log)
    outcome.fail(planned.unknown, LaunchProblem("UnknownNode", "no pool in burst.json has this node"))
    for problem in dict.fromkeys(outcome.failed.values()):
        nodes = [node for node, why in outcome.failed.items() if why == problem]
        log("down", nodes=nodes, problem=problem.reason())
        slurm.set_down(nodes, problem.reason())
    if outcome.launched:
        try:
            addresses = ec2.addresses(outcome.launched.values())
            slurm.set_addresses({n: addresses[i] for n, i in outcome.launched.items() if i in addresses})
        except (AwsError, slurm.SlurmError) as error:
            log("no-addresses", problem=str(error))  # slurmctld learns them when the nodes register
    log("done", launched=outcome.launched, failed=sorted(outcome.failed))
    return 1 if outcome.failed else 0


def _facts(order: ResumeOrder, log: Log) -> dict[int, JobFacts]:
    try:
        return slurm.job_facts(job.id for job in order.jobs)
    except slurm.SlurmError as error:
        log("no-job-facts", problem=str(error))  # a launch does without them: its token then holds for an hour
        return {}


def _end(nodes: str, config: Config, log: Log) -> int:
    from landbridge.burst.ec2 import ALIVE, Ec2
    from landbridge.burst.errors import AwsError

    names = expand(nodes)
    try:
        ec2 = Ec2(config)
        found = ec2.machines(names, states=[*ALIVE, "stopping", "stopped"])
        ec2.terminate(machine.id for machine in found)
    except AwsError as error:
        log("not-ended", nodes=names, problem=error.problem.reason())
        return 1
    named = {machine.id: machine.tags.get("landbridge:node") for machine in found}
    without = sorted(set(names) - set(named.values()) - {None})
    log("ended", instances=named, without_instance=compress(without) if without else None)
    return 0


PROGRAMS = {"resume": resume, "suspend": suspend, "resume-fail": resume_fail}

if __name__ == "__main__":
    sys.exit(PROGRAMS[sys.argv[1]](sys.argv[2:]))
