"""Jobs from sacct: text in the form of its --parsable2 (Slurm's src/sacct/print.c and src/common/print_fields.c)."""

import pytest

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.operator.doctor import runaways
from landbridge.burst.slurm.accounting import AccountedJob, accounted_jobs, jobs_of, queued_jobs, runaway_jobs
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.findings import Severity
from tests.unit.burst.situations import NOW, site
from tests.unit.burst.slurm.commands import Install

SACCT = """#!/bin/sh
for word in "$@"; do
  case "$word" in
    --delimiter=*) d="${word#--delimiter=}" ;;
    --jobs=*) jobs="${word#--jobs=}" ;;
  esac
done
echo "$jobs" >> "$0.jobs"
for job in $(echo "$jobs" | tr , ' '); do
  [ "$job" = 3 ] || echo "$job${d}ann${d}vision${d}p5${d}CANCELLED by 1000"
done
"""


@pytest.fixture
def sacct(tmp_path, monkeypatch):
    program = tmp_path / "sacct"
    program.write_text(SACCT)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def test_each_known_job_has_its_fields_and_the_first_word_of_its_state(sacct):
    jobs = accounted_jobs([7, 3, 7])
    assert jobs == {7: AccountedJob(7, "ann", "vision", "p5", "CANCELLED")}
    assert sacct.with_name("sacct.jobs").read_text() == "3,7\n"


def test_many_jobs_need_several_commands_and_no_job_needs_none(sacct):
    assert len(accounted_jobs(range(10, 20_020))) == 20_010
    assert len(sacct.with_name("sacct.jobs").read_text().splitlines()) == 3
    sacct.unlink()
    assert accounted_jobs([]) == {}


@pytest.mark.parametrize(
    "text",
    ["7|ann|vision|p5\n", "7.batch|ann|vision|p5|FAILED\n", "sacct: error: no database\n", "7|ann|a|b|p5|FAILED\n"],
)
def test_other_text_is_an_error(text):
    with pytest.raises(SlurmError, match="JobIDRaw, User"):
        jobs_of(text, "|")


def test_an_account_may_contain_any_separator_but_the_requested_one():
    assert jobs_of("7<x>ann<x>a|b,c<x><x>RUNNING\n", "<x>") == {7: AccountedJob(7, "ann", "a|b,c", "", "RUNNING")}


def test_a_failure_of_sacct_is_reported(commands: Install):
    commands(sacct="fail:slurm_persist_conn_open_without_init: failed")
    with pytest.raises(SlurmError, match="failed"):
        accounted_jobs([1])


RUNNING = """#!/bin/sh
case "$*" in *--state=RUNNING,SUSPENDED*) ;; *) exit 1 ;; esac
for word in "$@"; do case "$word" in --delimiter=*) d="${word#--delimiter=}" ;; esac; done
echo "7${d}bob${d}vision${d}p5${d}RUNNING"
echo "8${d}ann${d}vision${d}p5${d}SUSPENDED"
"""


def test_a_job_that_slurmctld_does_not_have_is_runaway(sacct, tmp_path):
    sacct.write_text(RUNNING)
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\ncase \"$*\" in *--states=all*) printf '8\\n9\\n' ;; esac\n")
    squeue.chmod(0o755)
    assert queued_jobs() == {8, 9}
    assert runaway_jobs() == [AccountedJob(7, "bob", "vision", "p5", "RUNNING")]
    config = BurstConfig(site(), state_dir=tmp_path)
    (finding,) = runaways(config, NOW)
    assert finding.severity is Severity.WARNING and "7 of bob" in finding.message and "runawayjobs" in str(finding.fix)
    squeue.write_text("#!/bin/sh\nprintf '7\\n8\\n'\n")
    assert list(runaways(config, NOW)) == []
    squeue.write_text("#!/bin/sh\nexit 1\n")
    (finding,) = runaways(config, NOW)
    assert finding.severity is Severity.INFO and "not checked" in finding.message
