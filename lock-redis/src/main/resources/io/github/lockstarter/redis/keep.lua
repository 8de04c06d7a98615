-- Lets a lock stay taken for a time, instead of giving it back. It belongs to nobody then:
-- what its owner has asked before and is carried out later neither extends nor frees it.
--
-- KEYS  1 lock
-- ARGV  1 owner token
--       2 for how long, in milliseconds
-- Returns 1 when the lock stays taken, also because of the same request before, else 0

local lock = KEYS[1]
local owner, time = ARGV[1], ARGV[2]
local call = redis.call

local holder, kept = call('GET', lock), owner .. ':kept'
if holder ~= owner then
  return holder == kept and 1 or 0
end
-- A server whose memory is full stores no value, but still extends the lease
local stored = redis.pcall('SET', lock, kept, 'PX', time)
return stored.ok and 1 or call('PEXPIRE', lock, time)
