-- Keeps a lock for a time instead of releasing it. No owner holds it then: a request of its
-- former owner that arrives later neither extends nor releases it.
--
-- KEYS  1 lock
-- ARGV  1 owner token
--       2 how long to keep the lock, in milliseconds
-- Returns 1 when the lock is kept, also by an earlier such request, otherwise 0

local lock = KEYS[1]
local owner, time = ARGV[1], ARGV[2]
local call = redis.call

local holder, kept = call('GET', lock), owner .. ':kept'
if holder ~= owner then
  return holder == kept and 1 or 0
end
-- A server with full memory stores no value, but still extends the lease
local stored = redis.pcall('SET', lock, kept, 'PX', time)
return stored.ok and 1 or call('PEXPIRE', lock, time)
