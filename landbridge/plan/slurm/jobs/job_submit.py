"""job_submit.lua: reject jobs whose data may not be at every site of their partitions, at submission and modification.

AllowAccounts of the partitions has the same effect; this script also reports the reason to the user, and remains
effective if an operator changes a partition with scontrol. It reads only slurmctld's arguments and its own tables, and
calls no program.
Source: slurm.schedmd.com/job_submit_plugins.html (Lua functions, slurm.log_user); slurm.conf(5), JobSubmitPlugins.
"""

from collections.abc import Sequence

from landbridge.environment import Environment
from landbridge.environment.base import SITES, Site
from landbridge.plan.slurm.jobs.data_lua import data_section
from landbridge.plan.slurm.jobs.lua_text import lua_set, lua_table, lua_text
from landbridge.plan.slurm.jobs.workload_lua import workload_section
from landbridge.plan.slurm.nodes import Nodes
from landbridge.plan.slurm.partitions import OPERATORS, default_partition, partition_sites

#: Sites in messages to users.
_WORDS: dict[Site, str] = {"onprem": "on-prem", "aws": "in AWS"}
_LOGIC = """
-- Return the first reason why a job of this account may not be in these partitions; nil without one.
local function reason_for_refusal(account, partitions)
  account = string.lower(account or "")
  if account == OPERATORS then
    return nil
  end
  local data_class = ACCOUNTS[account]
  for partition in string.gmatch(partitions, "[^,%s]+") do
    local sites = PARTITIONS[partition]
    if data_class == nil then
      if sites == nil or sites.aws then
        return string.format("account '%s' is not in the cluster's environment, so its jobs may not be in AWS; partition '%s' "
          .. "may start them there", account, partition)
      end
    elseif sites == nil then
      if data_class.confined then
        return string.format("partition '%s' is not in the cluster's environment, so it is unknown whether data of "
          .. "class '%s' (account '%s') may be there", partition, data_class.class, account)
      end
    else
      for _, site in ipairs(SITES) do
        if sites[site] and not data_class.sites[site] then
          return string.format("account '%s' has data of class '%s', which may be %s only; partition '%s' may start the job %s. "
            .. "Use: %s", account, data_class.class, data_class.words, partition, WHERE[site], data_class.use)
        end
      end
    end
  end
  return nil
end

local function answer(account, partitions, uid)
  local reason = reason_for_refusal(account, partitions)
  if reason == nil then
    return slurm.SUCCESS
  end
  slurm.log_user("%s", "landbridge: " .. reason)
  slurm.log_info("%s", "landbridge: refused a job of uid " .. tostring(uid) .. ": " .. reason)
  return slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
end

-- Return the value, or nil for an empty string.
local function given(value)
  if value == nil or value == "" then
    return nil
  end
  return value
end

-- slurmctld calls this for every job, once for each component of a heterogeneous job, and once for an array.
function slurm_job_submit(job_desc, part_list, submit_uid)
  local account = given(job_desc.account) or given(job_desc.default_account)
  -- A job with a reservation and no partition gets the reservation's partition, which can be any.
  local unnamed = given(job_desc.reservation) and EVERY or DEFAULT
  return answer(account, given(job_desc.partition) or unnamed, submit_uid)
end

-- slurmctld calls this for every change of a job, also by operators: the resulting job is checked. A change of neither
-- account nor partition is always permitted, so that a job that should not be there can still be held.
function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  if job_desc.account == nil and job_desc.partition == nil then
    return slurm.SUCCESS
  end
  local account = job_desc.account
  if account == nil then
    account = job_rec.account
  end
  return answer(given(account), given(job_desc.partition) or given(job_rec.partition) or DEFAULT, modify_uid)
end
"""
_END = """
slurm.log_info("landbridge: job_submit.lua is in force")
return slurm.SUCCESS
"""


def has_job_submit(environment: Environment) -> bool:
    """True if the script has rules to enforce: accounts with data classes, and AWS pools."""
    return bool(environment.scheduler.accounts and environment.aws.pools)


def job_submit_lua(environment: Environment, nodes: Sequence[Nodes]) -> str:
    """Render the script for Lua 5.1 to 5.4; the same environment gives the same text."""
    queues = partition_sites(environment, nodes)
    lines = [
        f"-- Written by Landbridge from the environment {environment.name}; change that file instead.",
        f"local OPERATORS = {lua_text(OPERATORS)}",
        f"local DEFAULT = {lua_text(default_partition(environment))}",
        f"local EVERY = {lua_text(','.join(queues))}",
        "local WHERE = " + lua_table((site, lua_text(_WORDS[site])) for site in SITES),
        "local SITES = {" + ", ".join(map(lua_text, SITES)) + "}",
        "local PARTITIONS = {",
        *(f"  [{lua_text(name)}] = {lua_set(sites)}," for name, sites in queues.items()),
        "}",
        "local ACCOUNTS = {",
    ]
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        sites = frozenset(data_class.sites) if data_class is not None else frozenset()
        permitted = [queue for queue, queue_sites in queues.items() if queue_sites <= sites]
        fields = {
            "class": lua_text(account.data_class),
            "sites": lua_set(sites),
            "words": lua_text(" and ".join(_WORDS[site] for site in SITES if site in sites) or "nowhere"),
            "confined": "true" if sites != frozenset(SITES) else "false",
            "use": lua_text(", ".join(f"--partition={queue}" for queue in permitted) or "no partition of this cluster"),
        }
        lines.append(f"  [{lua_text(name.lower())}] = {lua_table(fields.items())},")
    workloads = workload_section(environment, _WORDS)
    return "\n".join([*lines, "}", _LOGIC.strip("\n")]) + "\n" + workloads + data_section(environment) + _END
