"""Ordinary work on the tests' cluster: jobs of a researcher at both sites, some of which fail, and the tasks of an operations team."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sandbox.demo.training import Researcher
from tests.e2e.support.alert_faults import bursting
from tests.e2e.support.bursting import Bursting
from tests.e2e.support.monitored_site import HOST, MonitoredSite

#: Ends of the jobs of a round.
ENDS = frozenset({"COMPLETED", "FAILED", "CANCELLED"})


@dataclass(frozen=True)
class OrdinaryWork:
    """Rounds of ordinary work. `look` is called while jobs run, and raises if the cluster is not as it should be."""

    site: MonitoredSite
    look: Callable[[], None]

    @cached_property
    def jobs(self) -> Bursting:
        return bursting(self.site)

    @cached_property
    def researcher(self) -> Researcher:
        researcher = Researcher(self.site.deployment.cluster, self.site.deployment.environment, self.jobs.user)
        researcher.bring_example()
        return researcher

    def round(self, number: int) -> None:
        """Run the jobs of one round to their ends, and one task of the operations team; in each second round AWS has a job too."""
        training = self.researcher.train(f"digits-{number}", ["--epochs", "3"])
        expected = {
            training: "COMPLETED",
            self.jobs.submit("--nodes=2", "--partition=onprem", script="sleep 20"): "COMPLETED",
            self.jobs.submit("--nodes=1", "--partition=onprem", script="exit 3"): "FAILED",
        }
        if number % 2 == 0:
            expected[self.jobs.submit("--nodes=1", script="sleep 20")] = "COMPLETED"
        cancelled = self.jobs.submit("--nodes=2", "--partition=onprem", script="sleep 600")
        self.jobs.on_controller("scancel", str(cancelled))
        expected[cancelled] = "CANCELLED"
        tasks = list(self.tasks())
        tasks[number % len(tasks)]()
        self.jobs.wait_for("the jobs of the round to end", lambda: self._states(expected), ENDS.issuperset)
        assert self._accounted(expected) == expected
        assert self.researcher.run_of(training).metrics

    def tasks(self) -> Iterator[Callable[[], object]]:
        """Yield the tasks of an operations team: dumps, rotation of logs, a second converge, a login, and a reload of slurm.conf."""
        run = self.site.run
        yield lambda: run("db01", "systemctl start landbridge-slurm-dump")
        yield lambda: run(HOST, "systemctl start landbridge-mlflow-dump")
        yield lambda: [run(name, "logrotate --force /etc/logrotate.conf") for name in ("ctl01", "db01", "dgx01")]
        yield lambda: self.site.landbridge_configure("--tags", "slurm", "--limit", "dgx02")
        yield lambda: run("login01", "su - alice -c 'squeue; sinfo'")
        yield lambda: self.jobs.on_controller("scontrol", "reconfigure")

    def _states(self, jobs: dict[int, str]) -> set[str]:
        self.look()
        accounted = self._accounted(jobs)
        return {accounted.get(number, "PENDING") for number in jobs}

    def _accounted(self, jobs: dict[int, str]) -> dict[int, str]:
        """Return the states by the accounting database: slurmctld forgets an ended job while a task of operations takes minutes."""
        words = [
            "--noheader",
            "--allocations",
            "--parsable2",
            "--format=JobIDRaw,State",
            f"--jobs={','.join(map(str, jobs))}",
        ]
        rows = (line.split("|") for line in self.jobs.on_controller("sacct", *words).splitlines())
        # "CANCELLED by UID"
        return {int(number): state.split()[0] for number, state in rows}
