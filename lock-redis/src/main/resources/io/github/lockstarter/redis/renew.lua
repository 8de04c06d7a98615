-- Extends leases to their full length from now on, or checks which owners still hold their
-- locks.
--
-- KEYS  the locks, and then their fencing bases
-- ARGV  1 lease time in milliseconds, 0 to extend nothing
--       2 how long to remember an idle fencing base, in milliseconds
--       and then an owner token for each of the locks
-- Returns 1 for each that its owner holds, 0 for each that it does not

local lease, fenceRetention = ARGV[1], ARGV[2]
local call = redis.call

-- Uses remember.lua

local locks = #KEYS / 2
local holders = call('MGET', unpack(KEYS, 1, locks))
local answers = {}
for i = 1, locks do
  answers[i] = (holders[i] == ARGV[i + 2]) and 1 or 0
  if answers[i] == 1 and lease ~= '0' then
    answers[i] = call('PEXPIRE', KEYS[i], lease)
    remember(KEYS[locks + i], fenceRetention)
  end
end
return answers
