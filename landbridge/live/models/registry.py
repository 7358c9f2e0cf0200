"""Registered models and their versions in an MLflow server, with MLflow's own client, which also has SageMaker's servers.

A version's files are artifacts of a run of its own, in the experiment `models/NAME`: the account that creates a model owns its
experiment too, as MLflow's permissions have it, and another account's model needs no right there. Source (2026-11-26): MLflow
3.17.2, `MlflowClient`, and server/handlers.py, `_validate_source_run` (a version's source is inside of its run's artifacts).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.live.mlflow_client import answers, client_class, pages
from landbridge.models.history import AliasRecord
from landbridge.models.manifest import LARGEST_BYTES
from landbridge.models.names import MANIFEST_FILE
from landbridge.models.version_tags import DIGEST_TAG, PLACEHOLDER_TAG

#: Prefix of the experiment's name, for the runs that have the files of a model's versions.
EXPERIMENTS = "models/"
_FOLDER = "model"


@contextmanager
def in_workspace(name: str) -> Iterator[None]:
    """Use a workspace of MLflow for the calls of this thread; an empty name: the workspace in MLFLOW_WORKSPACE, if it
    is set.
    """
    if not name:
        yield
        return
    from mlflow.utils.workspace_context import WorkspaceContext

    with WorkspaceContext(name):
        yield


class RegistryError(Exception):
    """Registry that did not answer, or refused; the message has the reason."""


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """Model version in a registry."""

    name: str
    version: str
    run: str
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return the digest of its files; empty for a version whose registration did not end."""
        return self.tags.get(DIGEST_TAG, "")


class ModelRegistry:
    """MLflow server with registered models. The account and the CA are in MLflow's own environment variables."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._client: Any = client_class(RegistryError)(tracking_uri=uri, registry_uri=uri)

    def aliases(self, name: str) -> dict[str, str]:
        """Return the versions by alias."""
        with answers(self.uri, RegistryError):
            return {alias: str(version) for alias, version in self._client.get_registered_model(name).aliases.items()}

    def tags(self, name: str) -> dict[str, str]:
        """Return the tags of a model; empty for a model that does not exist."""
        with answers(self.uri, RegistryError):
            model = self._model(name)
            return dict(model.tags) if model is not None else {}

    def ensure(self, name: str) -> None:
        """Create a registered model if it does not exist."""
        with answers(self.uri, RegistryError):
            # In a workspace, MLflow denies a model that does not exist. One that exists is not created twice.
            if self._model(name, "PERMISSION_DENIED") is None:
                self._client.create_registered_model(name)

    def names(self) -> list[str]:
        """Return the names of all models."""
        with answers(self.uri, RegistryError):
            return sorted(model.name for model in pages(self._client.search_registered_models))

    def versions(self, name: str) -> list[RegisteredVersion]:
        """Return the versions of a model in the order of their numbers, without placeholders."""
        with answers(self.uri, RegistryError):
            listed = pages(self._client.search_model_versions, filter_string=f"name = '{name}'")
            ordered = sorted(listed, key=lambda each: int(each.version))
        return [_version(each) for each in ordered if PLACEHOLDER_TAG not in each.tags]

    def version(self, name: str, version: str) -> RegisteredVersion:
        """Return a version."""
        with answers(self.uri, RegistryError):
            return _version(self._client.get_model_version(name, version))

    def resolve(self, name: str, version_or_alias: str) -> str:
        """Return the version number for a version or an alias (`@champion`)."""
        if not version_or_alias.startswith("@"):
            return version_or_alias
        alias = version_or_alias[1:]
        version = self.aliases(name).get(alias)
        if version is None:
            raise RegistryError(f"{name}: no version is {alias}")
        return version

    def create(self, name: str, tags: Mapping[str, str]) -> RegisteredVersion:
        """Create the next version, with a run for its files."""
        with answers(self.uri, RegistryError):
            run = self._client.create_run(self._experiment(name), run_name=name)
            source = f"{run.info.artifact_uri}/{_FOLDER}"
            created = self._client.create_model_version(name, source, run_id=run.info.run_id, tags=dict(tags))
            return _version(created)

    def create_numbered(self, name: str, version: str, tags: Mapping[str, str]) -> RegisteredVersion:
        """Create the version with a given number; numbers before it that do not exist stay unused."""
        with answers(self.uri, RegistryError):
            listed = pages(self._client.search_model_versions, filter_string=f"name = '{name}'")
            present = {str(each.version): each for each in listed}
        # A version that this function created before the program was killed.
        if version in present:
            return self._numbered(_version(present[version]))
        while True:
            created = self.create(name, {**tags, PLACEHOLDER_TAG: version})
            if created.version == version:
                return self._numbered(created)
            with answers(self.uri, RegistryError):
                self._client.delete_model_version(name, created.version)
                self._client.set_terminated(created.run, "KILLED")
            if int(created.version) > int(version):
                raise RegistryError(f"{name}: version {version} was deleted, and a registry uses no number twice")

    def _numbered(self, version: RegisteredVersion) -> RegisteredVersion:
        if PLACEHOLDER_TAG not in version.tags:
            return version
        with answers(self.uri, RegistryError):
            self._client.delete_model_version_tag(version.name, version.version, PLACEHOLDER_TAG)
        return self.version(version.name, version.version)

    def upload(self, version: RegisteredVersion, folder: Path) -> None:
        """Upload the files of a folder as the files of a version."""
        with answers(self.uri, RegistryError):
            self._client.log_artifacts(version.run, str(folder), _FOLDER)

    def end(self, version: RegisteredVersion) -> None:
        """End the run that has a version's files."""
        with answers(self.uri, RegistryError):
            self._client.set_terminated(version.run, "FINISHED")

    @contextmanager
    def downloaded(self, version: RegisteredVersion, names: Iterable[str]) -> Iterator[Path]:
        """Yield a temporary folder with files of a version."""
        with TemporaryDirectory(prefix="landbridge-model-") as folder:
            place = Path(folder)
            with answers(self.uri, RegistryError):
                for name in names:
                    place = Path(self._client.download_artifacts(version.run, f"{_FOLDER}/{name}", folder)).parent
            yield place

    def manifest(self, version: RegisteredVersion) -> bytes:
        """Return the text of a version's manifest, without its weights."""
        size = self.files(version).get(MANIFEST_FILE) or 0
        if size > LARGEST_BYTES:
            raise RegistryError(f"the manifest of {version.name}/{version.version} has {size:,} bytes")
        with TemporaryDirectory(prefix="landbridge-model-") as folder, answers(self.uri, RegistryError):
            return Path(self._client.download_artifacts(version.run, f"{_FOLDER}/{MANIFEST_FILE}", folder)).read_bytes()

    def files(self, version: RegisteredVersion) -> dict[str, int | None]:
        """Return the bytes of each file of a version, as the server lists them; None for a folder. Any account of the model adds files."""
        with answers(self.uri, RegistryError):
            listed = self._client.list_artifacts(version.run, _FOLDER)
            return {Path(file.path).name: None if file.is_dir else file.file_size or 0 for file in listed}

    def deleted_runs(self, versions: Iterable[RegisteredVersion]) -> frozenset[str]:
        """Return the runs of versions that were deleted or are absent: their files cannot be read."""
        from mlflow.exceptions import MlflowException

        deleted = set()
        with answers(self.uri, RegistryError):
            for run in {version.run for version in versions if version.run}:
                try:
                    stage = self._client.get_run(run).info.lifecycle_stage
                except MlflowException as error:
                    if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                        raise
                    stage = "deleted"
                if stage == "deleted":
                    deleted.add(run)
        return frozenset(deleted)

    def set_tags(self, version: RegisteredVersion, tags: Mapping[str, str]) -> None:
        """Set tags of a version."""
        with answers(self.uri, RegistryError):
            for key, value in tags.items():
                if version.tags.get(key) != value:
                    self._client.set_model_version_tag(version.name, version.version, key, value)

    def set_alias(self, name: str, alias: str, version: str) -> None:
        """Move an alias."""
        with answers(self.uri, RegistryError):
            self._client.set_registered_model_alias(name, alias, version)

    def remove_alias(self, name: str, alias: str) -> None:
        """Remove an alias from the version that has it."""
        with answers(self.uri, RegistryError):
            self._client.delete_registered_model_alias(name, alias)

    def set_model_tag(self, name: str, key: str, value: str) -> None:
        """Set a tag of a registered model."""
        with answers(self.uri, RegistryError):
            self._client.set_registered_model_tag(name, key, value)

    def add_record(self, name: str, record: AliasRecord) -> None:
        """Write a record of the history. Raises RegistryError if another account wrote its number at the same time."""
        with answers(self.uri, RegistryError):
            if record.tag not in self._client.get_registered_model(name).tags:
                self._client.set_registered_model_tag(name, record.tag, record.to_json())
            written = self._client.get_registered_model(name).tags.get(record.tag)
        if written != record.to_json():
            raise RegistryError(
                f"{name}: another account moved an alias at the same time; check its history, and repeat the command"
            )

    def _model(self, name: str, *absent: str) -> Any:
        """Return a model; None for the error of an absent one, or for another error of `absent`."""
        from mlflow.exceptions import MlflowException

        try:
            return self._client.get_registered_model(name)
        except MlflowException as error:
            if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", *absent):
                raise
            return None

    def _experiment(self, name: str) -> str:
        experiment = self._client.get_experiment_by_name(f"{EXPERIMENTS}{name}")
        if experiment is not None and experiment.lifecycle_stage == "deleted":
            raise RegistryError(
                f"{self.uri}: the experiment {EXPERIMENTS}{name} was deleted, and the files of its versions with it: "
                f"restore experiment {experiment.experiment_id} (mlflow experiments restore "
                f"--experiment-id {experiment.experiment_id}) before mlflow gc removes it"
            )
        if experiment is not None:
            return str(experiment.experiment_id)
        return str(self._client.create_experiment(f"{EXPERIMENTS}{name}"))


def _version(listed: Any) -> RegisteredVersion:
    return RegisteredVersion(listed.name, str(listed.version), listed.run_id, dict(listed.tags))
