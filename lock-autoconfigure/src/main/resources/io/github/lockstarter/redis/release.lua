-- Gives a lock back and tells the first waiting JVM that can be reached.
--
-- KEYS  1 lock
--       2 queue of the JVMs that wait for it
-- ARGV  1 owner token
--       2 id of the JVM that gives back
--       3 '1' to put that JVM at the end of the queue when another one was told
--       4 how long to remember a queue without arrivals, in milliseconds
--       5 start of the channel names; the id of a JVM follows
--       6 the lock, as its waiters know it
-- Returns 0 when the owner does not hold the lock, 1 when it is free,
--         2 when it is free and a waiting JVM was told

local lock, queue = KEYS[1], KEYS[2]
local owner, jvm, enqueue, patience = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channels, name = ARGV[5], ARGV[6]

-- Where publishing is not permitted nobody can be told, but the lock is free all the same
local function tell(waiter)
  local listeners = redis.pcall('PUBLISH', channels .. waiter, name)
  return type(listeners) == 'number' and listeners > 0
end

-- A JVM that nobody hears is dead or cut off: the next one is told instead
local function wake()
  local first = redis.call('ZPOPMIN', queue)
  while first[1] do
    if first[1] ~= jvm and tell(first[1]) then
      return true
    end
    first = redis.call('ZPOPMIN', queue)
  end
  return false
end

if redis.call('GET', lock) ~= owner then
  return 0
end
redis.call('DEL', lock)
if not wake() then
  return 1
end
if enqueue == '1' then
  -- Behind all who wait, by their own clock even if the server's was set back
  local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')
  local now = redis.call('TIME')
  local arrival = (tonumber(now[1]) - 1704067200) * 1000000 + tonumber(now[2])
  if last[2] then
    arrival = math.max(arrival, tonumber(last[2]) + 1)
  end
  redis.call('ZADD', queue, string.format('%.0f', arrival), jvm)
  redis.call('PEXPIRE', queue, patience)
end
return 2
