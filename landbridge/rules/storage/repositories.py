"""Rules about data repositories of file systems in AWS, and about backups."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import DataRepository, Efs, Environment, FsxLustre, FsxOpenZfs
from landbridge.findings import DataPath, Finding, error, info, path_text, warning
from landbridge.plan.network.services.mlflow_servers import artifact_class
from landbridge.rules.environment_paths import cloud_file_systems, suggestion
from landbridge.rules.registry import rule


@dataclass(frozen=True, slots=True)
class _Link:
    share: FsxLustre
    repository: DataRepository
    path: DataPath

    @property
    def prefix(self) -> str | None:
        """Return the prefix of its objects in one form; None if it has no source, or two."""
        if self.repository.data_class is not None and self.repository.bucket is None:
            return f"hub:{self.repository.data_class}/"
        if self.repository.bucket is not None and self.repository.data_class is None:
            return self.repository.bucket.rstrip("/") + "/"
        return None


@rule(suppressible=False)
def repository_class(environment: Environment) -> Iterator[Finding]:
    """The data class of a repository is in data_classes and may be in AWS.

    A class that must stay on-prem has no bucket in the data hub.
    Source: Landbridge (docs/decisions/0006-data.md).
    """
    classes = environment.data_classes
    for link in _links(environment):
        name, path = link.repository.data_class, (*link.path, "data_class")
        if name is None:
            continue
        if name not in classes:
            message = f'unknown data class "{name}"'
            yield error(path, message, fix=suggestion(name, classes), related=(("data_classes",),))
        elif "aws" not in classes[name].sites:
            message = f"data of class {name} may be at {', '.join(classes[name].sites)} only"
            related = (("data_classes", name, "sites"),)
            yield error(path, message, fix="write another class, or none", related=related)


@rule
def repository_writers(environment: Environment) -> Iterator[Finding]:
    """Every bucket prefix has one exporting repository.

    Two file systems that export to one prefix overwrite each other's objects, without an error.
    Source: Landbridge (docs/decisions/0006-data.md); FSx for Lustre User Guide, "Exporting changes to the data
    repository".
    """
    writers: dict[str, _Link] = {}
    for link in _links(environment):
        prefix = link.prefix
        if prefix is None or not link.repository.export:
            continue
        enclosing = next((outer for outer in _enclosing_prefixes(prefix) if outer in writers), None)
        other = (
            writers[enclosing]
            if enclosing is not None
            else next((writer for inner, writer in writers.items() if inner.startswith(prefix)), None)
        )
        if other is not None:
            target = (
                prefix.rstrip("/") if link.repository.bucket else f"the hub's bucket of {link.repository.data_class}"
            )
            message = f"{path_text(other.path)} also exports to {target}"
            fix = "remove one export, or write separate prefixes"
            related = (other.path,)
            yield error((*link.path, "export"), message, fix=fix, related=related)
        writers.setdefault(prefix, link)


@rule
def hub_bucket_two_writers(environment: Environment) -> Iterator[Finding]:
    """A repository does not export into the bucket of MLflow's artifacts.

    Source: Landbridge (docs/decisions/0006-data.md): every prefix has one writer.
    """
    chosen = artifact_class(environment)
    for link in _links(environment):
        name = link.repository.data_class
        if name is not None and link.repository.export and name == chosen:
            message = (
                f"{link.repository.folder} exports into the data hub's bucket of {name}, which has MLflow's artifacts"
            )
            fix = "write export: false, or use another bucket"
            related: tuple[DataPath, ...] = (("mlops", "mlflow", "data_class"), ("data_classes",))
            path = (*link.path, "export")
            yield warning(path, message, fix=fix, related=related)


@rule
def file_system_without_copy(environment: Environment) -> Iterator[Finding]:
    """Data of a file system in AWS has a copy in a bucket or a backup.

    Scratch deployments lose data when one server fails; the others lose it when the file system is deleted.
    Source: FSx for Lustre User Guide, "Deployment options"; FSx for OpenZFS and EFS User Guides, backups.
    """
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre):
            linked = share.repositories or share.import_path or share.export_path
            if share.deployment in facts().fsx_lustre.backups.not_on and not linked:
                message = f"{share.deployment} loses data when a server fails, and has no repository with a copy"
                fix = "add repositories, or use persistent_2"
                related = ((*path, "repositories"), (*path, "deployment"))
                yield warning(path, message, fix=fix, related=related)
        elif isinstance(share, FsxOpenZfs) and share.backup_days == 0:
            message = "the file system has no backups (backup_days: 0)"
            yield warning((*path, "backup_days"), message, fix="write backup_days: 7")
        elif isinstance(share, Efs) and not share.backups:
            message = "the file system has no backups (backups: false)"
            yield warning((*path, "backups"), message, fix="write backups: true")


@rule
def repository_without_export(environment: Environment) -> Iterator[Finding]:
    """At least one repository of a scratch file system exports results to its bucket.

    Without export, results stay only on the file system.
    Source: FSx for Lustre User Guide, "Exporting changes to the data repository".
    """
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxLustre) or not share.repositories:
            continue
        if share.deployment in facts().fsx_lustre.backups.not_on and not any(
            repository.export for repository in share.repositories
        ):
            message = f"no repository exports, and {share.deployment} loses data when a server fails"
            fix = "write export: true in the folder of results"
            yield info((*path, "repositories"), message, fix=fix, related=(path,))


def _links(environment: Environment) -> Iterator[_Link]:
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre):
            for index, repository in enumerate(share.repositories):
                yield _Link(share, repository, (*path, "repositories", index))


def _enclosing_prefixes(prefix: str) -> Iterator[str]:
    """Yield a prefix and every prefix that contains it."""
    parts = prefix.rstrip("/").split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count]) + "/"
