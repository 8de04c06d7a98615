-- Releases a lock and wakes the first place that can be reached. The place stays in the queue
-- until the lock is granted.
--
-- KEYS  1 lock
--       2 queue of the lock; see queue.lua for this and all other words
--       3 turn
--       4 remembers this release for ten seconds; left out with drivers that repeat no command
-- ARGV  1 owner token
--       2 id of the instance that releases
--       3 its place, to put it behind all others when one of them was woken; or '' if it does
--         not queue anew: then its existing places are woken like all others
--       4 how long to remember an idle queue, in milliseconds
--       5 beginning of the channel names; the id of an instance follows
--       6 the lock, as its waiters know it
--       7 need of its place
--       8 '1' if the server knows all listeners; one of a cluster knows only its own
--       9 the shortest turn in milliseconds
-- Returns 0 when the owner does not hold the lock, 1 when it is free or this is a
--         repetition, 2 when it is free and a place was woken

local lock, queue, turn, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, instance, place, queueRetention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channelPrefix, message, need, listenersKnown = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
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

-- Uses place.lua, queue.lua, leave.lua, listeners.lua, wake.lua, pass-on.lua

local channels = { prefix = channelPrefix, message = message, known = listenersKnown, turn = ARGV[9] }
return passOn(queue, turn, instance, place, need, queueRetention, channels)
