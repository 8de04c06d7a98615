-- Extends leases to their full length from now on.
--
-- KEYS  the locks
-- ARGV  an owner token and a lease time in milliseconds for each of them
-- Returns 1 for each that was extended, 0 for each that its owner does not hold

local holders = redis.call('MGET', unpack(KEYS))
local answers = {}
for i, lock in ipairs(KEYS) do
  local owner, lease = ARGV[2 * i - 1], ARGV[2 * i]
  answers[i] = (holders[i] == owner) and redis.call('PEXPIRE', lock, lease) or 0
end
return answers
