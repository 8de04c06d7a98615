-- Gives a lock back and tells the first waiting JVM that can be reached. It keeps its
-- place in the queue until it holds the lock.
--
-- KEYS  1 lock
--       2 queue of those who wait for it; see enqueue.lua
--       3 the place that was told that it is its turn
--       4 remembers this release for ten seconds; left out where drivers repeat nothing
-- ARGV  1 owner token
--       2 id of the JVM that gives back
--       3 its place, to put it at the end of the queue when another one was told; or '' if
--         it does not queue anew, and is told like all others if it waits already
--       4 how long to remember a queue without arrivals, in milliseconds
--       5 start of the channel names; the id of a JVM follows
--       6 the lock, as its waiters know it
--       7 what its place needs; see enqueue.lua
--       8 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns 0 when the owner does not hold the lock, 1 when it is free or this is a
--         repetition, 2 when it is free and a waiting JVM was told

local lock, queue, turn, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, jvm, place, patience = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channels, name, need, countable = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
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

-- include enqueue.lua
-- include wake.lua

if place ~= '' then
  call('ZREM', queue, jvm, jvm .. ':read')
end
if not wake() then
  return 1
end
if place ~= '' then
  enqueue(place)
end
return 2
