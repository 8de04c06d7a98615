-- Takes a JVM out of the queue of a lock; if it was its turn to try, tells the next one.
--
-- KEYS  1 lock
--       2 queue of the JVMs that wait for it
-- ARGV  1 id of the JVM
--       2 start of the channel names; the id of a JVM follows
--       3 the lock, as its waiters know it
-- Returns 1 when another JVM was told, else 0

local lock, queue = KEYS[1], KEYS[2]
local jvm, channels, name = ARGV[1], ARGV[2], ARGV[3]

-- Where publishing is not permitted nobody can be told
local function tell(waiter)
  local listeners = redis.pcall('PUBLISH', channels .. waiter, name)
  return type(listeners) == 'number' and listeners > 0
end

if redis.call('ZREM', queue, jvm) == 1 or redis.call('EXISTS', lock) == 1 then
  return 0
end
local first = redis.call('ZPOPMIN', queue)
while first[1] do
  if tell(first[1]) then
    return 1
  end
  first = redis.call('ZPOPMIN', queue)
end
return 0
