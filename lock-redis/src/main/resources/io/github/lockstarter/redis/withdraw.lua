-- Takes a place out of the queue of a lock; if it was its turn, tells the next one, and if
-- it was in the way of readers, tells them.
--
-- KEYS  as in release.lua
-- ARGV  1 id of the JVM
--       2 its place; the id itself stands for both places that the JVM has only one of,
--         and for one in order of arrival if that was told: nobody has come for it
--       3 start of the channel names; the id of a JVM follows
--       4 the lock, as its waiters know it
--       5 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns 1 when another JVM was told that it is its turn, else 0

local lock, queue, turn = KEYS[1], KEYS[2], KEYS[3]
local jvm, place, channels, name, countable = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call

-- include enqueue.lua
-- include wake.lua

call('ZREM', queue, place)
if place == jvm then
  call('ZREM', queue, jvm .. ':read')
end
local next = call('GET', turn)
if next and (next == place or (place == jvm and jvmOf(next) == jvm)) then
  call('ZREM', queue, next)
  call('DEL', turn)
elseif next then
  return 0
end
local holder = call('GET', lock)
if not holder and wake() then
  return 1
end
if holder == 'shared' then
  tellReaders(0)
end
return 0
