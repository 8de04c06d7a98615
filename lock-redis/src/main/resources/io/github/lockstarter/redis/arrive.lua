-- Puts a place into the queue of a FAIR lock.
--
-- KEYS  1 queue of the lock; see queue.lua for this and all other words
-- ARGV  1 id of the instance
--       2 its place
--       3 how long to remember an idle queue, in milliseconds
--       4 need of the place
-- Returns 1

local queue = KEYS[1]
local instance, place, queueRetention, need = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Uses queue.lua

enqueue(queue, instance, place, need, queueRetention)
return 1
