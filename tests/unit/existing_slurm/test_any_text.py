"""Any text gives findings or files, and never an exception."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.existing_slurm.samples import CONF, GOOD, written

_FRAGMENTS = st.sampled_from(
    [
        "NodeName=", "nodename=DEFAULT ", "NodeName=a[1-2] ", "NodeAddr=10.20.1.[1-2]", "NodeAddr=[", "PartitionName=p ", "PartitionName=",
        "Nodes=ALL", "Nodes=", "NodeSet=s ", "NodeSet= ", "Feature=", "SwitchName=s ", "Include slurm.conf", "Include ", "Include a/b",
        "SlurmctldHost=()", "SlurmctldHost=h(1.2.3.4)", "ControlMachine=h", "ClusterName=%c", "GresTypes=,", "TopologyPlugin=topology/tree",
        "MaxNodeCount=9", "Weight=99999999999", "SlurmdTimeout=", "\\", "\n", "\n", "\n", " ", "#", '"', "=", "é\u2028", "\x00", "SrunPortRange=x", "StateSaveLocation=~",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(_FRAGMENTS, max_size=12).map("".join))


@given(TEXTS, TEXTS, TEXTS)
def test_any_files_are_answered(start: str, end: str, gres: str) -> None:
    result = written({CONF: f"{start}\n{GOOD}{end}", "/etc/slurm/gres.conf": gres, "/etc/slurm/topology.conf": end})
    assert (result.files is None) == (not result.environment)
    assert result.findings or result.files
    for finding in result.findings:
        assert finding.rule and finding.message


@given(TEXTS)
def test_any_text_alone_is_answered(text: str) -> None:
    result = written(text)
    assert result.files is None and result.findings
