"""Section of job_submit.lua about workload classes: a job in a partition outside its class's sites is refused.

It wraps the functions of landbridge/plan/slurm/jobs/job_submit.py, so that a job needs both its data class and its workload
class for a partition. Without classes in the environment, the section does not exist.
"""

from collections.abc import Iterable, Mapping

from landbridge.environment import Environment
from landbridge.environment.base import SITES, Site
from landbridge.plan.slurm.jobs.lua_text import lua_set, lua_table, lua_text
from landbridge.plan.slurm.jobs.workloads import (
    OTHER,
    default_qos,
    has_selectors,
    lua_pattern,
    workload_sites,
)

_LOGIC = """
-- Fields of the job that slurmctld asks about.
local labels = {}

local function read_labels(job_desc, job_rec)
  for _, field in ipairs({"qos", "name", "comment"}) do
    labels[field] = given(job_desc[field]) or (job_rec ~= nil and given(job_rec[field])) or ""
  end
end

local function fits_a_pattern(patterns, text)
  for _, pattern in ipairs(patterns) do
    if string.find(text, pattern) then
      return true
    end
  end
  return false
end

local function fits(workload, account, partitions)
  if workload.accounts and not workload.accounts[account] then
    return false
  end
  if workload.partitions then
    for partition in string.gmatch(partitions, "[^,%s]+") do
      if not workload.partitions[partition] then
        return false
      end
    end
  end
  local qos = labels.qos
  if qos == "" then
    qos = QOS[account] or NORMAL_QOS
  end
  if workload.qos and not workload.qos[qos] then
    return false
  end
  if workload.names and not fits_a_pattern(workload.names, labels.name) then
    return false
  end
  return not workload.comments or fits_a_pattern(workload.comments, labels.comment)
end

-- Return --partition for every partition that the job's data and its class permit.
local function permitted_partitions(account, workload)
  local names = {}
  for partition in string.gmatch(EVERY, "[^,]+") do
    local permitted = ACCOUNTS[account] ~= nil or not PARTITIONS[partition].aws
    for _, site in ipairs(SITES) do
      if PARTITIONS[partition][site] and (not workload.sites[site] or (ACCOUNTS[account] and not ACCOUNTS[account].sites[site])) then
        permitted = false
      end
    end
    if permitted then
      names[#names + 1] = "--partition=" .. partition
    end
  end
  return #names > 0 and table.concat(names, ", ") or "no partition of this cluster"
end

local residency_refusal = reason_for_refusal
reason_for_refusal = function(account, partitions)
  local reason = residency_refusal(account, partitions)
  account = string.lower(account or "")
  if reason ~= nil or account == OPERATORS then
    return reason
  end
  for _, workload in ipairs(WORKLOADS) do
    if workload.other or fits(workload, account, partitions) then
      for partition in string.gmatch(partitions, "[^,%s]+") do
        for _, site in ipairs(SITES) do
          if (PARTITIONS[partition] == nil or PARTITIONS[partition][site]) and not workload.sites[site] then
            return string.format("jobs of class '%s' may be %s only; partition '%s' may start the job %s. Use: %s",
              workload.name, workload.words, partition, WHERE[site], permitted_partitions(account, workload))
          end
        end
      end
      return nil
    end
  end
  return nil
end

local submit_by_data, modify_by_data = slurm_job_submit, slurm_job_modify

function slurm_job_submit(job_desc, part_list, submit_uid)
  read_labels(job_desc, nil)
  return submit_by_data(job_desc, part_list, submit_uid)
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  read_labels(job_desc, job_rec)
  return modify_by_data(job_desc, job_rec, part_list, modify_uid)
end
"""


def has_workloads(environment: Environment) -> bool:
    """Return true if the environment has a workload class with jobs."""
    classes = environment.placement.classes
    return classes.burst is not None or any(has_selectors(workload) for _, workload in classes.items())


def workload_section(environment: Environment, words: Mapping[Site, str]) -> str:
    """Return the section of the script; empty without classes. `words`: the sites as messages name them."""
    if not has_workloads(environment):
        return ""
    lines = ["", "-- Workload classes: the first one that fits a job is its class.", "local WORKLOADS = {"]
    for name, workload in environment.placement.classes.items():
        if not has_selectors(workload):
            continue
        selectors = {
            "accounts": _set(workload.accounts),
            "partitions": _set(workload.partitions),
            "qos": _set(workload.qos),
            "names": _patterns(workload.names),
            "comments": _patterns(workload.comments),
        }
        lines.append(f"  {lua_table({**_class(environment, name, words), **_written(selectors)}.items())},")
    other = {**_class(environment, OTHER, words), "other": "true"}
    lines += [f"  {lua_table(other.items())},", "}", "local QOS = {"]
    for account in environment.scheduler.accounts:
        lines.append(f"  [{lua_text(account.lower())}] = {lua_text(default_qos(environment, account))},")
    normal = default_qos(environment, "")
    return "\n".join([*lines, "}", f"local NORMAL_QOS = {lua_text(normal)}", _LOGIC.strip("\n")]) + "\n"


def _class(environment: Environment, name: str, words: Mapping[Site, str]) -> dict[str, str]:
    sites = workload_sites(environment, name)
    text = " and ".join(words[site] for site in SITES if site in sites)
    return {"name": lua_text(name), "sites": lua_set(sites), "words": lua_text(text)}


def _set(names: Iterable[str]) -> str:
    return lua_table((f"[{lua_text(name)}]", "true") for name in names)


def _patterns(patterns: Iterable[str]) -> str:
    return "{" + ", ".join(lua_text(lua_pattern(pattern)) for pattern in patterns) + "}"


def _written(selectors: dict[str, str]) -> dict[str, str]:
    """Return the selectors that have values."""
    return {name: value for name, value in selectors.items() if value != "{}"}
