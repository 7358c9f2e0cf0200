-- Written by Landbridge from the environment hybrid; changes belong into its file.
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
