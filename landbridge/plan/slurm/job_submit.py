"""job_submit.lua: reject jobs whose data may not be at every site of their partitions, at submission and modification.

AllowAccounts on the partitions says the same once more; this one also tells the user why, and holds where an administrator
changes a partition by hand. It reads what slurmctld hands it and its own tables, and calls nothing.
Source: slurm.schedmd.com/job_submit_plugins.html (Lua functions, slurm.log_user); slurm.conf(5), JobSubmitPlugins.
"""

from collections.abc import Iterable, Sequence

from landbridge.environment import Environment
from landbridge.environment.base import SITES, Site
from landbridge.plan.slurm.nodes import Nodes
from landbridge.plan.slurm.partitions import OPERATORS, default_partition, partition_sites

#: The sites in a user's words.
_WORDS: dict[Site, str] = {"onprem": "on-prem", "aws": "in AWS"}
_LOGIC = """
-- The first thing that speaks against this account's job in these queues; nil when nothing does.
local function against(account, queues)
  account = string.lower(account or "")
  if account == OPERATORS then
    return nil
  end
  local own = ACCOUNTS[account]
  for queue in string.gmatch(queues, "[^,%s]+") do
    local sites = PARTITIONS[queue]
    if own == nil then
      if sites == nil or sites.aws then
        return string.format("account '%s' is not in the cluster's environment, so its jobs may not be in AWS; partition '%s' "
          .. "may start them there", account, queue)
      end
    elseif sites == nil then
      if own.confined then
        return string.format("partition '%s' is not in the cluster's environment, so nobody knows whether data of class '%s' "
          .. "(account '%s') may be there", queue, own.class, account)
      end
    else
      for _, site in ipairs(SITES) do
        if sites[site] and not own.sites[site] then
          return string.format("account '%s' has data of class '%s', which may be %s only; partition '%s' may start the job %s. "
            .. "Use: %s", account, own.class, own.words, queue, WHERE[site], own.use)
        end
      end
    end
  end
  return nil
end

local function answer(account, queues, who)
  local reason = against(account, queues)
  if reason == nil then
    return slurm.SUCCESS
  end
  slurm.log_user("%s", "landbridge: " .. reason)
  slurm.log_info("%s", "landbridge: refused a job of uid " .. tostring(who) .. ": " .. reason)
  return slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
end

-- A value that was given: nil and the empty word are none.
local function given(value)
  if value == nil or value == "" then
    return nil
  end
  return value
end

-- Called for every job, also for each part of a heterogeneous one; once for an array.
function slurm_job_submit(job_desc, part_list, submit_uid)
  local account = given(job_desc.account) or given(job_desc.default_account)
  -- Who names a reservation and no queue gets the reservation's queue: it could be any.
  local unnamed = given(job_desc.reservation) and EVERY or DEFAULT
  return answer(account, given(job_desc.partition) or unnamed, submit_uid)
end

-- Called for every change of a job, also by administrators: what the job would be afterwards is judged. A change that leaves
-- account and partition alone is nobody's way to AWS; a job that should not be there can still be held.
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

slurm.log_info("landbridge: job_submit.lua is in force")
return slurm.SUCCESS
"""


def has_job_submit(environment: Environment) -> bool:
    """True if the script has rules to enforce: accounts with data classes, and AWS pools."""
    return bool(environment.scheduler.accounts and environment.aws.pools)


def job_submit_lua(environment: Environment, nodes: Sequence[Nodes]) -> str:
    """The script, the same for the same environment. Lua 5.1 to 5.4 run it."""
    queues = partition_sites(environment, nodes)
    lines = [
        f"-- Written by Landbridge from the environment {environment.name}; changes belong into its file.",
        f"local OPERATORS = {_text(OPERATORS)}",
        f"local DEFAULT = {_text(default_partition(environment))}",
        f"local EVERY = {_text(','.join(queues))}",
        "local WHERE = " + _table((site, _text(_WORDS[site])) for site in SITES),
        "local SITES = {" + ", ".join(map(_text, SITES)) + "}",
        "local PARTITIONS = {",
        *(f"  [{_text(name)}] = {_set(sites)}," for name, sites in queues.items()),
        "}",
        "local ACCOUNTS = {",
    ]
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        sites = frozenset(data_class.sites) if data_class is not None else frozenset()
        use = [queue for queue, where in queues.items() if where <= sites]
        fields = {
            "class": _text(account.data_class),
            "sites": _set(sites),
            "words": _text(" and ".join(_WORDS[site] for site in SITES if site in sites) or "nowhere"),
            "confined": "true" if sites != frozenset(SITES) else "false",
            "use": _text(", ".join(f"--partition={queue}" for queue in use) or "no partition of this cluster"),
        }
        lines.append(f"  [{_text(name.lower())}] = {_table(fields.items())},")
    return "\n".join([*lines, "}", _LOGIC.strip("\n")]) + "\n"


def _set(sites: Iterable[Site]) -> str:
    site_set = frozenset(sites)
    return _table((site, "true") for site in SITES if site in site_set)


def _table(fields: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in fields) + "}"


def _text(value: str) -> str:
    """A Lua string. The environment's words hold neither quotes nor control characters; should one, it stays a string."""
    escaped = "".join(char if char.isprintable() and char not in '"\\' else f"\\{ord(char):03d}" for char in value)
    return f'"{escaped}"'
