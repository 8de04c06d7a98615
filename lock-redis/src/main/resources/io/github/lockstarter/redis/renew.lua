-- Extends leases to their full length from now on, or checks which owners still hold their
-- locks.
--
-- KEYS  the locks
-- ARGV  1 lease time in milliseconds, 0 to extend nothing
--       and then an owner token for each of the locks
-- Returns 1 for each that its owner holds, 0 for each that it does not

local lease = ARGV[1]
local call = redis.call

local holders = call('MGET', unpack(KEYS))
local answers = {}
for i, lock in ipairs(KEYS) do
  answers[i] = (holders[i] == ARGV[i + 1]) and 1 or 0
  if answers[i] == 1 and lease ~= '0' then
    answers[i] = call('PEXPIRE', lock, lease)
  end
end
return answers
