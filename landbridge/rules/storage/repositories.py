"""Rules about the data of file systems in AWS: which buckets they show, who writes, and what is lost with them."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import DataRepository, Efs, Environment, FsxLustre, FsxOpenZfs
from landbridge.findings import DataPath, Finding, error, info, path_text, warning
from landbridge.plan.site.mlops import artifact_class
from landbridge.rules.environment_paths import cloud_file_systems, suggestion
from landbridge.rules.registry import rule


@dataclass(frozen=True, slots=True)
class _Link:
    share: FsxLustre
    own: DataRepository
    path: DataPath

    @property
    def shown(self) -> str | None:
        """The objects it shows, by one name for each place; None where it names no place, or two."""
        if self.own.data_class is not None and self.own.bucket is None:
            return f"hub:{self.own.data_class}/"
        if self.own.bucket is not None and self.own.data_class is None:
            return self.own.bucket.rstrip("/") + "/"
        return None


@rule(suppressible=False)
def repository_class(environment: Environment) -> Iterator[Finding]:
    """A repository's data class is one of data_classes, and one whose data may be in AWS.

    A class that must stay on-prem has no bucket in the hub; a folder of it in AWS would be where it leaks to.
    Source: Landbridge (docs/decisions/0006-data.md).
    """
    classes = environment.data_classes
    for link in _links(environment):
        name, path = link.own.data_class, (*link.path, "data_class")
        if name is None:
            continue
        if name not in classes:
            message = f'unknown data class "{name}"'
            yield error(path, message, fix=suggestion(name, classes), related=(("data_classes",),))
        elif "aws" not in classes[name].sites:
            message = f"data of class {name} may be at {', '.join(classes[name].sites)} only"
            related = (("data_classes", name, "sites"),)
            yield error(path, message, fix="show another class, or none", related=related)


@rule
def repository_writers(environment: Environment) -> Iterator[Finding]:
    """Every prefix has one writer: a folder that exports is the only one that exports there.

    Two file systems that export to one place overwrite one another in silence, object by object.
    Source: Landbridge (docs/decisions/0006-data.md); FSx for Lustre User Guide, "Exporting changes to the data repository".
    """
    writers: dict[str, _Link] = {}
    for link in _links(environment):
        shown = link.shown
        if shown is None or not link.own.export:
            continue
        place = next((one for one in _around(shown) if one in writers), None)
        other = (
            writers[place]
            if place is not None
            else next((one for prefix, one in writers.items() if prefix.startswith(shown)), None)
        )
        if other is not None:
            place = shown.rstrip("/") if link.own.bucket else f"the hub's bucket of {link.own.data_class}"
            message = f"{path_text(other.path)} writes to {place} too"
            fix = "export one of them, or give each a prefix of its own"
            related = (other.path,)
            yield error((*link.path, "export"), message, fix=fix, related=related)
        writers.setdefault(shown, link)


@rule
def hub_bucket_two_writers(environment: Environment) -> Iterator[Finding]:
    """A hub bucket that a file system exports into as a whole is written by nobody else; MLflow writes its artifacts there.

    Source: Landbridge (docs/decisions/0006-data.md): every prefix has one writer.
    """
    chosen = artifact_class(environment)
    for link in _links(environment):
        name = link.own.data_class
        if name is not None and link.own.export and name == chosen:
            message = f"{link.own.folder} exports into the hub's bucket of {name}, where MLflow keeps its artifacts"
            fix = "write export: false, or show a bucket of your own"
            related: tuple[DataPath, ...] = (("mlops", "mlflow", "data_class"), ("data_classes",))
            path = (*link.path, "export")
            yield warning(path, message, fix=fix, related=related)


@rule
def file_system_without_copy(environment: Environment) -> Iterator[Finding]:
    """What is on a file system in AWS is somewhere else too: in a bucket, or in a backup.

    Scratch deployments lose data when one server fails; the others lose it with the file system, or when somebody deletes it.
    Source: FSx for Lustre User Guide, "Deployment options"; FSx for OpenZFS and EFS User Guides, backups.
    """
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre):
            linked = share.repositories or share.import_path or share.export_path
            if share.deployment in facts().fsx_lustre.backups.not_on and not linked:
                message = f"{share.deployment} loses its data with a server, and shows no bucket that has it too"
                fix = "add repositories, or use persistent_2 where anything on it matters"
                related = ((*path, "repositories"), (*path, "deployment"))
                yield warning(path, message, fix=fix, related=related)
        elif isinstance(share, FsxOpenZfs) and share.backup_days == 0:
            message = "nothing keeps a copy of what is on it (backup_days: 0)"
            yield warning((*path, "backup_days"), message, fix="write backup_days: 7")
        elif isinstance(share, Efs) and not share.backups:
            message = "nothing keeps a copy of what is on it (backups: false)"
            yield warning((*path, "backups"), message, fix="write backups: true")


@rule
def repository_without_export(environment: Environment) -> Iterator[Finding]:
    """Results written to a folder that shows a bucket go back to it, or are known not to.

    Without export a folder reads new objects and writes none: results stay on the file system alone.
    Source: FSx for Lustre User Guide, "Exporting changes to the data repository".
    """
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxLustre) or not share.repositories:
            continue
        if share.deployment in facts().fsx_lustre.backups.not_on and not any(one.export for one in share.repositories):
            message = f"no folder exports, and {share.deployment} loses what is written to it with a server"
            fix = "write export: true where results go"
            yield info((*path, "repositories"), message, fix=fix, related=(path,))


def _links(environment: Environment) -> Iterator[_Link]:
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre):
            for index, own in enumerate(share.repositories):
                yield _Link(share, own, (*path, "repositories", index))


def _around(place: str) -> Iterator[str]:
    """A place and every prefix that it lies in."""
    parts = place.rstrip("/").split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count]) + "/"
