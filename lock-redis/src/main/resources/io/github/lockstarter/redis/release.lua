-- Releases a lock and wakes the first place that can be reached. The place stays in the queue
-- until the lock is granted.
--
-- KEYS  1 lock
--       2 queue of the lock; see queue.lua for this and all other words
--       3 turn
--       4 remembers this release for ten seconds; left out with drivers that repeat no command
-- ARGV  1 owner token
--       2 id of the instance that releases
--       3 beginning of the channel names; the id of an instance follows
--       4 the lock, as its waiters know it
--       5 '1' if the server knows all listeners; one of a cluster knows only its own
--       6 the shortest turn in milliseconds
-- Returns 0 when the owner does not hold the lock, 1 when it is free or this is a repetition

local lock, queue, turn, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, instance = ARGV[1], ARGV[2]
local channels = { prefix = ARGV[3], message = ARGV[4], known = ARGV[5], turn = ARGV[6] }
local call = redis.call

if call('GET', lock) ~= owner then
  return released and call('EXISTS', released) or 0
end
call('DEL', lock)
if released then
  redis.pcall('SET', released, '', 'PX', 10000)
end
if call('EXISTS', queue) == 0 then
  return 1
end

-- Uses place.lua, queue.lua, listeners.lua, wake.lua

wake(queue, turn, instance, channels)
return 1
