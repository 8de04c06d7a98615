-- Tells whether JVMs wait for a lock.
--
-- KEYS  1 queue of those who wait for it; see enqueue.lua
-- ARGV  1 start of the channel names; the id of a JVM follows
--       2 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns how many places there are

local queue = KEYS[1]
local channels, countable = ARGV[1], ARGV[2]
local call = redis.call

-- include gone.lua

local first = call('ZRANGE', queue, 0, 0)[1]
while first and isGone(first) do
  call('ZREM', queue, first)
  first = call('ZRANGE', queue, 0, 0)[1]
end
return call('ZCARD', queue)
