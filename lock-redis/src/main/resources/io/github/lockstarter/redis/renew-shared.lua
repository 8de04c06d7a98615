-- Extends leases of shared locks to their full length from now on, or checks which owners still
-- hold them.
--
-- KEYS  for each lease the lock, its readers (see readers.lua) and its fencing base
-- ARGV  1 lease time in milliseconds, 0 to extend nothing
--       2 how long to remember an idle fencing base, in milliseconds
--       and then an owner token for each of the locks
-- Returns 1 for each that its owner holds, 0 for each that it does not

local lease, fenceRetention = tonumber(ARGV[1]), ARGV[2]
local call, pcall = redis.call, redis.pcall

-- Uses readers.lua, remember.lua

local now = millis()
local answers = {}
for i = 1, #KEYS / 3 do
  local lock, readers, fence, owner = KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[i + 2]
  -- One key of the wrong type must not fail the renewal of the others
  local ends = tonumber(pcall('ZSCORE', readers, owner) or nil)
  answers[i] = 0
  if ends and ends > now and pcall('GET', lock) == 'shared' then
    answers[i] = 1
    if lease > 0 then
      call('ZADD', readers, now + lease, owner)
      expireWithLast(lock, readers)
      remember(fence, fenceRetention)
    end
  end
end
return answers
