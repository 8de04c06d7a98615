-- Counts the places in the queue of a lock, after removing those at its head whose instances
-- are gone.
--
-- KEYS  1 queue of the lock; see queue.lua for this and all other words
-- ARGV  1 beginning of the channel names; the id of an instance follows
--       2 '1' if the server knows all listeners; one of a cluster knows only its own
-- Returns how many places there are

local queue = KEYS[1]
local channelPrefix, listenersKnown = ARGV[1], ARGV[2]
local call = redis.call

-- Uses place.lua, listeners.lua

local first = call('ZRANGE', queue, 0, 0)[1]
while first and listenersOf(first, channelPrefix, listenersKnown) == 0 do
  call('ZREM', queue, first)
  first = call('ZRANGE', queue, 0, 0)[1]
end
return call('ZCARD', queue)
