-- Releases a shared lock for one owner. With the last owner the lock is free, and the first
-- place that can be reached is woken.
--
-- KEYS  1 to 3 as in release.lua, and
--       4 readers; see readers.lua
--       5 remembers this release; see release.lua
-- ARGV  as in release.lua
-- Returns 0 when the owner does not hold the lock, 1 when the owner has released it or this is
--         a repetition, 2 when the lock is free and a place was woken

local lock, queue, turn, readers, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, instance, place, queueRetention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channelPrefix, message, need, listenersKnown = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
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

-- Uses place.lua, queue.lua, leave.lua, listeners.lua, wake.lua, pass-on.lua

local channels = { prefix = channelPrefix, message = message, known = listenersKnown, turn = ARGV[9] }
return passOn(queue, turn, instance, place, need, queueRetention, channels)
