"""Level with a cluster: the model is trained by a pipeline whose steps are jobs, on-prem and, with the nodes full, in AWS.

The burst controller, its programs and the resource graph are real; Slurm is simulated, and AWS is emulated.
"""

import getpass
import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.environment import find_environment
from landbridge.paths import state_dir
from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.record import RunRecord
from sandbox.demo.report import DemoError, DemoReport
from sandbox.demo.work import program
from sandbox.embedded.demo import EmbeddedDemo
from sandbox.embedded.leftovers import alone
from sandbox.model_life.digits import DATASET
from sandbox.model_life.haproxy_program import haproxy_program
from sandbox.model_life.life import CHAMPION, served_life
from sandbox.model_life.pipeline_site import OwnerFolder, PipelineSite, SimulatedPort
from sandbox.model_life.registry import MODEL, SignedRegistry, signed_registry
from sandbox.model_life.serving import loopback_serving

ROOT = Path(__file__).resolve().parents[2]
#: Images of the first version of the dataset, and of the second one, which has all.
FEW, ALL = 300, 1437
#: Job that holds the on-prem nodes until the file is there.
_HOLDER = "#!/bin/bash\nuntil [ -e {file} ]; do sleep 0.2; done\n"


def run(report: DemoReport, outcomes: dict[str, Any], stack_name: str = "sandbox") -> None:
    """Run the level. Raises DemoError for a step with another outcome than expected."""
    path, folder = find_environment(stack_name), state_dir("embedded")
    haproxy_program()
    with alone(folder), ExitStack() as ending, TemporaryDirectory(prefix="landbridge-model-life-") as temporary:
        shutil.rmtree(folder)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        level = EmbeddedDemo(path, report, folder, ending)
        level.check()
        level.start()
        level.build()
        with report.step("start MLflow, and create the site's CA") as step:
            level.tracking.wait()
            site = signed_registry(level.tracking.uri, Path(temporary))
            step.result = level.tracking.uri
        # The steps' jobs end before the simulated Slurm, and it before the emulated AWS.
        level.slurm = ending.enter_context(level.simulated_slurm())
        life = ClusterLife(level, site, Path(temporary), report, outcomes)
        with life.pipelines.running(life.port, life.folders):
            life.run()
        level.settle()


class ClusterLife:
    """Steps of the level, each with its outcome as data."""

    def __init__(
        self, level: EmbeddedDemo, site: SignedRegistry, folder: Path, report: DemoReport, outcomes: dict[str, Any]
    ) -> None:
        self.level, self.site, self.folder, self.report, self.outcomes = level, site, folder, report, outcomes
        account, settings = next(iter(level.environment.scheduler.accounts.items()))
        self.pipelines = PipelineSite(folder, getpass.getuser(), account, settings.data_class, site.registry.uri)
        self.folders = OwnerFolder(self.pipelines.home, self.pipelines.config)
        variables = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MLFLOW_DISABLE_TELEMETRY": "true"}
        self.port = SimulatedPort(level.slurm, level.environment, self.folders.work, variables)

    def run(self) -> None:
        """Run the steps: the pipeline's runs, then the served life with its second version, then the retraining."""
        self._register()
        with self.report.step("data arrives, and the pipeline trains on-prem") as step:
            self.pipelines.add_version("v1", FEW)
            first = self._published(self.pipelines.ended("dataset", "v1"), "onprem", "first run")
            self.site.promote(first, CHAMPION, "first version")
            step.result = f"{MODEL}/{first} is champion; {self.outcomes['first run']}"
        with self.report.step("each registered version starts the pipeline of its trigger") as step:
            record = self.pipelines.ended("model", f"{MODEL}@candidate:{first}")
            self.outcomes["triggered by a model"] = record.request.key
            step.result = record.request.key
        with loopback_serving(self.folder, self.site) as serving:
            served_life(self.report, self.outcomes, serving, first, self._trained_in_aws)
        with self.report.step("drift starts a retraining") as step:
            event = self.outcomes["trigger"]
            self.pipelines.record_drift(MODEL, {"key": str(event["key"]), "at": float(event["at"])})
            version = self._published(self.pipelines.ended("drift"), "onprem", "retraining")
            self.outcomes["retrained"] = version
            step.result = f"{MODEL}/{version} is staging; {self.outcomes['retraining']}"

    def _register(self) -> None:
        datasets = self.pipelines.config.datasets[self.pipelines.data_class]
        step = f'#!/bin/bash\nexec "{sys.executable}" -m sandbox.model_life.steps {{}} "{datasets}"\n'
        register = f'"{program("landbridge")}" model register "$LANDBRIDGE_RUN_FOLDER/model" --tracking-uri {self.site.registry.uri}\n'
        steps: list[dict[str, Any]] = [
            {"name": "train", "script": "train.sh", "inputs": [{"kind": "dataset", "dataset": DATASET}]},
            {
                "name": "evaluate",
                "script": "evaluate.sh",
                "needs": ["train"],
                "metrics": "metrics.json",
                "gates": [{"metric": "accuracy", "at_least": 0.8}],
            },
            {"name": "register", "script": "register.sh", "needs": ["evaluate"]},
        ]
        scripts = {"train": step.format("train"), "evaluate": step.format("evaluate")}
        scripts["register"] = f"#!/bin/bash\nexec {register}"
        triggers = [
            {"kind": "dataset", "dataset": DATASET},
            {"kind": "drift", "service": MODEL, "cool_down_hours": 0},
        ]
        self.pipelines.register("digits", steps, scripts, triggers)
        # A second pipeline follows the registry: an own check of each candidate.
        self.pipelines.register(
            "candidates",
            [{"name": "look", "script": "look.sh"}],
            {"look": '#!/bin/bash\necho "$LANDBRIDGE_TRIGGER"\n'},
            [{"kind": "model", "model": MODEL, "alias": "candidate"}],
        )

    def _trained_in_aws(self) -> str:
        """Fill the on-prem nodes, let data arrive, and return the version that is trained in AWS."""
        free = self.folder / "free"
        names = [name for name, node in self.level.slurm.nodes.items() if not node.cloud]
        holder = self.level.slurm.submit(
            nodes=len(names), script=_HOLDER.format(file=free), name="holder", account=self.pipelines.account
        )
        self.level.slurm.wait_for(lambda: holder.state == "RUNNING", "the holder does not start")
        self.pipelines.add_version("v2", ALL)
        version = self._published(self.pipelines.ended("dataset", "v2"), "aws", "second run")
        free.touch()
        self.level.slurm.wait(holder)
        return version

    def _published(self, record: RunRecord, site: str, name: str) -> str:
        """Sign the version of a run and make it staging; compare the site of its training."""
        job = next(each for each in self.level.slurm.jobs.values() if each.name == job_name(record.name, "train"))
        sites = {"aws" if self.level.slurm.nodes[node].cloud else "onprem" for node in job.nodes}
        if sites != {site}:
            raise DemoError(f"the training of {record.name} ran on {', '.join(job.nodes)}, not {site}")
        folder = self.folders.work(record.name) / "model"
        version = self.site.publish(folder)
        self.outcomes[name] = {"nodes": list(job.nodes), "usd": record.usd, "trigger": record.request.key}
        return version
