-- Extends a lease to its full length from now on.
--
-- KEYS  1 lock
-- ARGV  1 owner token
--       2 lease time in milliseconds
-- Returns 1 when extended, 0 when the owner does not hold the lock

local lock = KEYS[1]
local owner, lease = ARGV[1], ARGV[2]

if redis.call('GET', lock) ~= owner then
  return 0
end
return redis.call('PEXPIRE', lock, lease)
