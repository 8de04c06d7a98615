-- Removes a place from the queue of a lock. If the place had the turn, wakes the next one. If
-- it stood before readers of a shared lock, wakes these.
--
-- KEYS  1 to 3 as in release.lua
-- ARGV  1 id of the instance
--       2 its place; the id itself stands for the exclusive and the shared place, and for a
--         FAIR one that has the turn, because its waiter has left
--       3 beginning of the channel names; the id of an instance follows
--       4 the lock, as its waiters know it
--       5 '1' if the server knows all listeners; one of a cluster knows only its own
--       6 the shortest turn in milliseconds
-- Returns 1 when a place was woken for the free lock, else 0

local lock, queue, turn = KEYS[1], KEYS[2], KEYS[3]
local instance, place = ARGV[1], ARGV[2]
local channels = { prefix = ARGV[3], message = ARGV[4], known = ARGV[5], turn = ARGV[6] }
local call = redis.call

-- Uses place.lua, queue.lua, leave.lua, listeners.lua, wake.lua

if place == instance then
  leave(queue, turn, instance)
else
  call('ZREM', queue, place)
end
local nextPlace = call('GET', turn)
local ofInstance = nextPlace and place == instance and instanceOf(nextPlace) == instance
if nextPlace and (nextPlace == place or ofInstance) then
  call('ZREM', queue, nextPlace)
  call('DEL', turn)
elseif nextPlace then
  return 0
end
local holder = call('GET', lock)
if not holder and wake(queue, turn, instance, channels) then
  return 1
end
if holder == 'shared' then
  wakeReaders(queue, 0, channels)
end
return 0
