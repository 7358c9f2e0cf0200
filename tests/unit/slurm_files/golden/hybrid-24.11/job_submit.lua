-- Written by Landbridge from the environment hybrid; change that file instead.
local OPERATORS = "root"
local DEFAULT = "gpu"
local EVERY = "gpu,onprem,p5,desk"
local WHERE = {onprem = "on-prem", aws = "in AWS"}
local SITES = {"onprem", "aws"}
local PARTITIONS = {
  ["gpu"] = {onprem = true, aws = true},
  ["onprem"] = {onprem = true},
  ["p5"] = {aws = true},
  ["desk"] = {aws = true},
}
local ACCOUNTS = {
  ["vision"] = {class = "internal", sites = {onprem = true, aws = true}, words = "on-prem and in AWS", confined = false, use = "--partition=gpu, --partition=onprem, --partition=p5, --partition=desk"},
  ["clinic"] = {class = "restricted", sites = {onprem = true}, words = "on-prem", confined = true, use = "--partition=onprem"},
}
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

slurm.log_info("landbridge: job_submit.lua is in force")
return slurm.SUCCESS
