-- Extends leases to their full length from now on.
--
-- KEYS  the locks
-- ARGV  1 lease time in milliseconds
--       and then an owner token for each of the locks
-- Returns 1 for each that was extended, 0 for each that its owner does not hold

local lease = ARGV[1]
local call = redis.call

local holders = call('MGET', unpack(KEYS))
local answers = {}
for i, lock in ipairs(KEYS) do
  answers[i] = (holders[i] == ARGV[i + 1]) and call('PEXPIRE', lock, lease) or 0
end
return answers
