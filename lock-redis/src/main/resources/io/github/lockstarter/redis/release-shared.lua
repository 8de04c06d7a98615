-- Releases a shared lock for one owner. With the last owner the lock is free, and the first
-- place that can be reached is woken.
--
-- KEYS  1 to 3 as in release.lua, and
--       4 readers; see readers.lua
--       5 remembers this release; see release.lua
-- ARGV  as in release.lua
-- Returns 0 when the owner does not hold the lock, 1 when the owner has released it or this is
--         a repetition

local lock, queue, turn, readers, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, instance = ARGV[1], ARGV[2]
local channels = { prefix = ARGV[3], message = ARGV[4], known = ARGV[5], turn = ARGV[6] }
local call = redis.call

-- Uses readers.lua

local now = millis()
local ends = tonumber(call('ZSCORE', readers, owner) or 0)
if ends <= now or call('GET', lock) ~= 'shared' then
  return released and call('EXISTS', released) or 0
end
call('ZREM', readers, owner)
if released then
  redis.pcall('SET', released, '', 'PX', 10000)
end
call('ZREMRANGEBYSCORE', readers, '-inf', now)
-- The longest of the other leases may be that of an instance that is gone
if expireWithLast(lock, readers) then
  return 1
end
call('DEL', lock)
if call('EXISTS', queue) == 0 then
  return 1
end

-- Uses place.lua, queue.lua, listeners.lua, wake.lua

wake(queue, turn, instance, channels)
return 1
