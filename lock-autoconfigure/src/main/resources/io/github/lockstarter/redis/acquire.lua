-- Grants a lock to an owner if nobody else holds it.
--
-- KEYS  1 lock, a string whose value is the owner token
--       2 the fencing base of its last tenure
--       3 queue of the JVMs that wait for it, a sorted set by arrival in microseconds
-- ARGV  1 owner token
--       2 lease time in milliseconds
--       3 how long to remember an idle fencing base, in milliseconds
--       4 id of the JVM that asks
--       5 '1' to put that JVM into the queue when the lock is refused
--       6 how long to remember a queue without arrivals, in milliseconds
-- Returns {1, fencing base} when granted, {0, remaining milliseconds or -1} when refused

local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, retention = ARGV[1], ARGV[2], ARGV[3]
local jvm, enqueue, patience = ARGV[4], ARGV[5], ARGV[6]

local EPOCH_SECONDS = 1704067200 -- 2024-01-01, so that the base stays small

local function micros()
  local now = redis.call('TIME')
  return (tonumber(now[1]) - EPOCH_SECONDS) * 1000000 + tonumber(now[2])
end

-- A hybrid clock: larger than the last base, and than any before the data was lost.
-- Numbers are doubles, exact up to 2^53, but tostring() would round them.
local function mint()
  local base = math.max(tonumber(redis.call('GET', fence) or '0') + 1, micros())
  redis.call('SET', fence, string.format('%.0f', base), 'PX', retention)
  return base
end

local holder = redis.call('GET', lock)
if not holder then
  redis.call('SET', lock, owner, 'PX', lease)
  redis.call('ZREM', queue, jvm)
  return {1, mint()}
end
if holder == owner then
  -- The same request again: its answer was lost
  redis.call('PEXPIRE', lock, lease)
  redis.call('ZREM', queue, jvm)
  return {1, tonumber(redis.call('GET', fence)) or mint()}
end
if enqueue == '1' then
  redis.call('ZADD', queue, 'NX', string.format('%.0f', micros()), jvm)
  redis.call('PEXPIRE', queue, patience)
end
return {0, redis.call('PTTL', lock)}
