-- Puts a place into the queue of a lock whose order of arrival counts.
--
-- KEYS  1 queue of those who wait for the lock; see enqueue.lua
-- ARGV  1 id of the JVM
--       2 its place
--       3 how long to remember a queue without arrivals, in milliseconds
--       4 what the place needs; see enqueue.lua
-- Returns 1

local queue = KEYS[1]
local jvm, place, patience, need = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call = redis.call

-- include enqueue.lua

enqueue(place)
return 1
