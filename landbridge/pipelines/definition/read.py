"""Reading of a pipeline's file: the definition, or all findings with their positions."""

from dataclasses import dataclass

from landbridge.environment.file.source import Source, read
from landbridge.findings import Finding, in_order
from landbridge.pipelines.definition.model import PipelineDefinition
from landbridge.pipelines.definition.parse import parse_definition

#: Rules of findings whose position is that of the key.
_AT_KEY = frozenset({"unknown-key", "missing-key"})


@dataclass(frozen=True, slots=True)
class LoadedPipeline:
    """Result of reading; `definition` is None if there is an error of form. Findings have positions."""

    definition: PipelineDefinition | None
    findings: tuple[Finding, ...]
    source: Source

    def at(self, finding: Finding) -> Finding:
        """Return the finding with its position in the file."""
        place = self.source.locate(finding.path, key=finding.rule in _AT_KEY)
        return finding.at(self.source.file, *place)


def read_pipeline(text: str | bytes, file: str) -> LoadedPipeline:
    """Return the definition of a YAML text, or its findings. Never raises for content."""
    source = read(text, file)
    if source.data is None and not source.findings:
        source.report("missing-key", "the file is empty", (), (1, 1), "start with name:")
    elif source.data is not None and not isinstance(source.data, dict):
        source.report("wrong-type", "the file must be a mapping that starts with name:", (), (1, 1))
    if not isinstance(source.data, dict):
        return LoadedPipeline(None, in_order(source.findings), source)
    definition, findings = parse_definition(source.data)
    loaded = LoadedPipeline(definition, (), source)
    placed = [loaded.at(finding) for finding in findings]
    return LoadedPipeline(definition, in_order([*source.findings, *placed]), source)
