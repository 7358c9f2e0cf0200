"""Section of job_submit.lua about data: a job that states data or results is held until the burst controller releases it.

It wraps the functions of landbridge/plan/slurm/jobs/job_submit.py. A job without a statement passes unchanged; without
`storage.staging` in the environment the section does not exist.
Source: Slurm's job_submit_lua.c and slurm_lua.c, 23.11 to 26.05 (fields comment, script, priority and admin_comment of
job_desc; admin_comment and comment of job_rec).
"""

from landbridge.environment import Environment
from landbridge.plan.site.data_exchange import data_staging
from landbridge.plan.slurm.controller_pair import SLURM_UID
from landbridge.plan.slurm.jobs.lua_text import lua_text
from landbridge.staging.statement import HELD_PREFIX

_LOGIC = """
local FORM = "Use: #SBATCH --comment=\\"data=NAME:VERSION[,NAME:VERSION]\\""
local RESULTS_FORM = "Use: #SBATCH --comment=\\"results=PATH[:NAME]\\""

-- Return the references of a text without spaces, each as NAME:VERSION, in their order; nil and the first fault.
local function references_of(text)
  local references = {}
  for reference in string.gmatch(text .. ",", "([^,]*),") do
    local name, version = string.match(reference, "^([a-z0-9][a-z0-9._%-]*)[:@]([A-Za-z0-9][A-Za-z0-9._%-]*)$")
    if name == nil or #name > 63 or #version > 63 then
      return nil, string.format("data='%s': '%s' is not NAME:VERSION. %s", text, reference, FORM)
    end
    references[#references + 1] = name .. ":" .. version
  end
  return table.concat(references, ",")
end

-- Return the results of a text without spaces; nil and the fault.
local function results_of(text)
  local path, colon, name = string.match(text, "^([^:]*)(:?)(.*)$")
  local is_valid = path == "." or path ~= "" and #path <= 200
  for part in string.gmatch(path == "." and "" or path .. "/", "([^/]*)/") do
    is_valid = is_valid and string.match(part, "^[A-Za-z0-9][A-Za-z0-9._%-]*$") ~= nil
  end
  if colon == ":" then
    is_valid = is_valid and #name <= 63 and string.match(name, "^[A-Za-z0-9][A-Za-z0-9._%-]*$") ~= nil
  end
  if not is_valid then
    return nil, string.format("results='%s' is not PATH[:NAME]. %s", text, RESULTS_FORM)
  end
  return text
end

local READ = {data = references_of, results = results_of}

-- Return the statement `word` in the comment, or nil; and the fault of the comment, or nil.
local function stated_in(comment, word)
  local text = string.match(" " .. (comment or ""), "[%s;]" .. word .. "=([^%s;]*)")
  if text == nil then
    return nil
  end
  return READ[word](text)
end

-- Return the statement `word` of a job, from its comment or else from its script, which is copied into the comment; nil and
-- the fault.
local function statement_of(job_desc, word)
  local stated, fault = stated_in(job_desc.comment, word)
  local line = string.match("\\n" .. (job_desc.script or ""), "\\n#LANDBRIDGE[ \\t]+" .. word .. "=(%S*)")
  if fault ~= nil or line == nil then
    return stated, fault
  end
  local in_script
  in_script, fault = READ[word](line)
  if fault == nil and stated ~= nil and stated ~= in_script then
    fault = string.format("the comment states %s=%s, the script %s: state one of them", word, stated, in_script)
  end
  if fault == nil and stated == nil then
    job_desc.comment = (given(job_desc.comment) and job_desc.comment .. " " or "") .. word .. "=" .. in_script
  end
  return in_script, fault
end

-- Return the fault if results of this account's jobs cannot be copied from AWS to the site; nil without one.
local function results_fault(account)
  local data_class = ACCOUNTS[string.lower(account or "")]
  if data_class == nil or not (data_class.sites.onprem and data_class.sites.aws) then
    return string.format("results= copies results from AWS to the site; data of account '%s' may not be at both: the job "
      .. "writes to a file system", account or "")
  end
  return nil
end

local function refuse(reason, uid)
  slurm.log_user("%s", "landbridge: " .. reason)
  slurm.log_info("%s", "landbridge: refused a job of uid " .. tostring(uid) .. ": " .. reason)
  return slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
end

local function is_held_for_data(job_rec)
  return string.sub(job_rec.admin_comment or "", 1, #HELD) == HELD
end

local function sites_of(partitions)
  local sites = {}
  for partition in string.gmatch(partitions or DEFAULT, "[^,%s]+") do
    for site in pairs(PARTITIONS[partition] or {}) do
      sites[site] = true
    end
  end
  return sites
end

local submit_without_data, modify_without_data = slurm_job_submit, slurm_job_modify

function slurm_job_submit(job_desc, part_list, submit_uid)
  local status = submit_without_data(job_desc, part_list, submit_uid)
  if status ~= slurm.SUCCESS then
    return status
  end
  local references, fault = statement_of(job_desc, "data")
  local results
  if fault == nil then
    results, fault = statement_of(job_desc, "results")
  end
  if fault == nil and results ~= nil then
    fault = results_fault(given(job_desc.account) or given(job_desc.default_account))
  end
  if fault ~= nil then
    return refuse(fault, submit_uid)
  end
  if references == nil and results == nil then
    return slurm.SUCCESS
  end
  if job_desc.priority == 0 then
    return refuse("a job that states data or results is held until they are in place or recorded: leave out --hold", submit_uid)
  end
  job_desc.priority = 0
  if references ~= nil then
    job_desc.admin_comment = HELD .. "waits for " .. references
    slurm.log_user("%s", "landbridge: the job is held until its data are where it runs: " .. references)
  else
    job_desc.admin_comment = HELD .. "waits until its results are recorded"
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  local status = modify_without_data(job_desc, job_rec, part_list, modify_uid)
  if status ~= slurm.SUCCESS or OPERATOR_UIDS[modify_uid] then
    return status
  end
  local data, results = stated_in(job_rec.comment, "data"), stated_in(job_rec.comment, "results")
  if job_desc.comment ~= nil then
    if data ~= stated_in(job_desc.comment, "data") or results ~= stated_in(job_desc.comment, "results") then
      return refuse("the data and the results of a job cannot be changed: cancel it, and submit it again", modify_uid)
    end
  end
  if data == nil and results == nil then
    return status
  end
  if results ~= nil and job_desc.account ~= nil and results_fault(job_desc.account) then
    return refuse(results_fault(job_desc.account), modify_uid)
  end
  if data ~= nil and job_desc.partition ~= nil then
    local sites = sites_of(given(job_rec.partition))
    for site in pairs(sites_of(given(job_desc.partition))) do
      if not sites[site] then
        return refuse(string.format("the job's data may be absent %s, where partition '%s' may start it: submit it again there",
          WHERE[site], job_desc.partition), modify_uid)
      end
    end
  end
  -- A release sets a priority; a value of Slurm for "no change" is not one.
  local priority = job_desc.priority
  if priority ~= nil and priority ~= 0 and priority ~= NO_CHANGE and is_held_for_data(job_rec) then
    return refuse("the job waits for its data or for the record of its results, and is released then", modify_uid)
  end
  return status
end
"""
#: NO_VAL, the value of a number that is not given. Source: slurm/slurm.h.
_NO_CHANGE = 0xFFFFFFFE


def data_section(environment: Environment) -> str:
    """Return the section of the script; empty without staging."""
    if data_staging(environment) is None:
        return ""
    lines = [
        "",
        "-- Data of jobs.",
        f"local HELD = {lua_text(HELD_PREFIX)}",
        f"local NO_CHANGE = {_NO_CHANGE}",
        f"local OPERATOR_UIDS = {{[0] = true, [{SLURM_UID}] = true}}",
    ]
    return "\n".join([*lines, _LOGIC.strip("\n")]) + "\n"
