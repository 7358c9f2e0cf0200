"""Level with the warm lab of `make demo`: the pipeline's steps are jobs of its real Slurm, on-prem and, with the nodes full, in "AWS".

The pass of pipelines runs here and submits as the lab's user at the login host. Registry, serving and canaries are those of the
loopback level.
"""

import base64
import io
import shlex
import tarfile
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.pipelines.reconcile.cost import PipelineNodeRate
from landbridge.pipelines.reconcile.view import JobView, Measurement, SubmitOutcome, merged_jobs
from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.service import slurm
from landbridge.pipelines.service.ports import PortError
from landbridge.plan.cost.job_cost import node_hour_usd
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import ClusterError, wait_for
from sandbox.demo.report import DemoError, DemoReport
from sandbox.demo.training import EXAMPLE, Researcher
from sandbox.embedded.tracking import serving as tracking_server
from sandbox.model_life import digits
from sandbox.model_life.haproxy_program import haproxy_program
from sandbox.model_life.life import CHAMPION, served_life
from sandbox.model_life.pipeline_site import OwnerFolder, PipelineSite
from sandbox.model_life.registry import MODEL, SignedRegistry, signed_registry
from sandbox.model_life.serving import loopback_serving
from sandbox.nspawn import from_environment

#: Epochs of the first version, and of a later one.
_FEW, _MANY = 4, 12
#: It prints the files of a run's checkpoints as a tar archive in base64, with the user's own credentials.
_ARTIFACTS = """
import base64, configparser, io, json, os, ssl, sys, tarfile, urllib.parse, urllib.request
login = configparser.ConfigParser(); login.read(os.path.expanduser("~/.mlflow/credentials")); login = login["mlflow"]
pair = login["mlflow_tracking_username"] + ":" + login["mlflow_tracking_password"]
context = ssl.create_default_context(cafile=os.environ["MLFLOW_TRACKING_SERVER_CERT_PATH"])
def get(page, **query):
    url = os.environ["MLFLOW_TRACKING_URI"] + page + "?" + urllib.parse.urlencode(query)
    request = urllib.request.Request(url, headers={"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()})
    return urllib.request.urlopen(request, timeout=60, context=context).read()
def files(path):
    for each in json.loads(get("/api/2.0/mlflow/artifacts/list", run_id=sys.argv[1], path=path)).get("files", []):
        yield from files(each["path"]) if each.get("is_dir") else [each["path"]]
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w") as archive:
    for path in files("checkpoints"):
        content = get("/get-artifact", run_uuid=sys.argv[1], path=path)
        entry = tarfile.TarInfo(path); entry.size = len(content); archive.addfile(entry, io.BytesIO(content))
print(base64.b64encode(buffer.getvalue()).decode())
"""


@dataclass(frozen=True)
class LabPort:
    """Port of the lab's Slurm: sbatch at the login host as the user, sacct and squeue on the controller."""

    user: Researcher
    rates: dict[str, PipelineNodeRate]

    def view(self, names: Collection[str], since: float) -> JobView:
        at, wanted = time.time(), sorted(names)
        try:
            accounted = slurm.accounted(wanted, since, self.rates, self._run)
            return merged_jobs(at, slurm.queued(wanted, self._run), accounted)
        except (ClusterError, slurm.SlurmCommandError) as error:
            raise PortError(str(error)) from error

    def submit(self, record: RunRecord, step: str) -> SubmitOutcome:
        source = record.request.source
        path = f"{self.user.folder}/{record.name}-{step}.sbatch"
        words = [
            "sbatch",
            "--parsable",
            *source.definition.step(step).options,
            f"--job-name={job_name(record.name, step)}",
        ]
        words += [f"--comment={record.request.comment(step)}", f"--account={source.definition.account}", path]
        line = f"cd {shlex.quote(self.user.folder)} && LANDBRIDGE_PIPELINE_RUN={record.name} {shlex.join(words)}"
        try:
            self.user.cluster.put(self.user.login, path, source.scripts[step].encode(), self.user.name)
            printed = self.user.cluster.run(self.user.login, "sh", "-c", line, user=self.user.name)
        except ClusterError as error:
            return SubmitOutcome(fault=str(error))
        return slurm.outcome_of(0, printed, "", ())

    def cancel(self, record: RunRecord, job: int) -> None:
        try:
            self.user.cluster.run(self.user.login, "scancel", str(job), user=self.user.name)
        except ClusterError as error:
            raise PortError(str(error)) from error

    def _run(self, command: Any) -> str:
        return self.user.cluster.run(self.user.controller, "env", "TZ=UTC", *command)


def run(report: DemoReport, outcomes: dict[str, Any], stack_name: str = "sandbox") -> None:
    """Run the level in the lab that is up. Raises DemoError without one."""
    haproxy_program()
    deployment = BringUp(from_environment.find(stack_name), report)
    with report.step("the lab of `make demo`") as step:
        if not deployment.is_up():
            raise DemoError("the lab is not up, or its link is down", "make demo, then again")
        step.result = deployment.name
    user = Researcher(deployment.cluster, deployment.environment, deployment.environment.users[0].name)
    user.bring_example()
    with TemporaryDirectory(prefix="landbridge-model-life-") as temporary:
        folder = Path(temporary)
        with tracking_server(folder / "mlflow") as tracking:
            with report.step("start MLflow, and create the site's CA") as step:
                tracking.wait()
                site = signed_registry(tracking.uri, folder)
                step.result = tracking.uri
            life = LabLife(deployment, user, site, folder, report, outcomes)
            try:
                with life.pipelines.running(life.port, life.folders):
                    life.run()
            except ClusterError as error:
                raise DemoError(str(error), "landbridge sandbox shell login01 shows more") from error


class LabLife:
    """Steps of the level in the lab."""

    def __init__(
        self,
        deployment: BringUp,
        user: Researcher,
        site: SignedRegistry,
        folder: Path,
        report: DemoReport,
        outcomes: dict[str, Any],
    ) -> None:
        self.user, self.site, self.folder, self.report, self.outcomes = user, site, folder, report, outcomes
        environment = deployment.environment
        account, settings = next(item for item in environment.scheduler.accounts.items() if user.name in item[1].users)
        self.pipelines = PipelineSite(folder, user.name, account, settings.data_class)
        self.folders = OwnerFolder(self.pipelines.home, self.pipelines.config, self._measured)
        self.onprem = [name for nodes in onprem_nodes(environment) for name in nodes.names]
        rates = {
            name: PipelineNodeRate(node_hour_usd(environment, name).usd or 0.0, nodes.gpu_count)
            for nodes in (*onprem_nodes(environment), *cloud_nodes(environment))
            for name in nodes.names
        }
        self.port = LabPort(user, rates)
        # Slurm of the lab has the jobs of earlier demonstrations: the same version would be the same run.
        self.demonstration = int(time.time())

    def run(self) -> None:
        """Run the steps: a run on-prem, the served life with a version from AWS, and the retraining."""
        self._register(_FEW)
        with self.report.step("data arrives, and the pipeline trains on-prem") as step:
            first = self._published(self._run_of("v1"), "onprem", "first run")
            self.site.promote(first, CHAMPION, "first version")
            step.result = f"{MODEL}/{first} is champion; {self.outcomes['first run']}"
        with loopback_serving(self.folder, self.site) as serving:
            served_life(self.report, self.outcomes, serving, first, self._trained_in_aws)
        with self.report.step("drift starts a retraining") as step:
            event = self.outcomes["trigger"]
            self.pipelines.record_drift(MODEL, {"key": str(event["key"]), "at": float(event["at"])})
            version = self._published(self.pipelines.ended("drift"), "", "retraining")
            self.outcomes["retrained"] = version
            step.result = f"{MODEL}/{version} is staging; {self.outcomes['retraining']}"

    def _run_of(self, version: str) -> RunRecord:
        """Add a version of the dataset, and wait for the end of its run."""
        name = f"{version}-{self.demonstration}"
        self.pipelines.add_version(name)
        return self.pipelines.ended("dataset", name)

    def _register(self, epochs: int) -> None:
        script = (EXAMPLE / "digits.sbatch").read_text().replace('"$@"', f"--epochs {epochs}")
        step = {
            "name": "train",
            "script": "digits.sbatch",
            "metrics": "metrics.json",
            "gates": [{"metric": "test_accuracy", "at_least": 0.8}],
        }
        triggers = [
            {"kind": "dataset", "dataset": digits.DATASET},
            {"kind": "drift", "service": MODEL, "cool_down_hours": 0},
        ]
        self.pipelines.register("digits", [step], {"train": script}, triggers)

    def _trained_in_aws(self) -> str:
        words = [
            "--parsable",
            f"--nodes={len(self.onprem)}",
            "--gpus-per-node=8",
            f"--account={self.pipelines.account}",
        ]
        words += [f"--nodelist={','.join(self.onprem)}", "--time=30", "--wrap=sleep 1800"]
        line = f"cd {shlex.quote(self.user.folder)} && {shlex.join(['sbatch', *words])}"
        holder = int(self.user.cluster.run(self.user.login, "sh", "-c", line, user=self.user.name).split(";")[0])
        wait_for("the holder to run", lambda: self.user.state(holder), lambda job: job.state == "RUNNING")
        try:
            self._register(_MANY)
            return self._published(self._run_of("v2"), "aws", "second run")
        finally:
            self.user.cluster.run(self.user.login, "scancel", str(holder), user=self.user.name)

    def _measured(self, record: RunRecord, step: str) -> Measurement:
        """Return the metrics of the job's run in the lab's MLflow."""
        try:
            return Measurement(dict(self.user.run_of(record.steps[step].job or 0).metrics))
        except ClusterError as error:
            return Measurement(fault=str(error))

    def _published(self, record: RunRecord, site: str, name: str) -> str:
        """Export the checkpoint of the job's run, register and sign it, and make it staging; compare the site of its training."""
        job = self.user.state(record.steps["train"].job or 0)
        used = "onprem" if set(job.nodes) <= set(self.onprem) else "aws"
        if site not in ("", used):
            raise DemoError(f"the training of {record.name} ran on {', '.join(job.nodes)}, not {site}")
        tracked = self.user.run_of(job.id)
        printed = self.user.cluster.run(self.user.login, "python3", "-c", _ARTIFACTS, tracked.id, user=self.user.name)
        copied, folder = self.folder / f"run-{job.id}", self.folder / f"model-{job.id}"
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(printed))) as archive:
            archive.extractall(copied, filter="data")
        saved = digits.example("checkpoints").newest(copied / "checkpoints")
        lineage = {"dataset": f"{digits.DATASET}@{record.request.key}", "run": tracked.id, "job": str(job.id)}
        digits.example("export_model").export(saved, folder, self.pipelines.data_class, lineage)
        version = self.site.publish(folder)
        self.outcomes[name] = {"nodes": list(job.nodes), "usd": record.usd, "trigger": record.request.key}
        return version
