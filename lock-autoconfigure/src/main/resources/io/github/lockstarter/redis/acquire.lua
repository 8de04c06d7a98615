-- Grants a lock to an owner if nobody else holds it.
--
-- KEYS  1 lock, a string whose value is the owner token
--       2 the fencing base of its last tenure
--       3 queue of the JVMs that wait for it, a sorted set by ticket; see release.lua
--       4 the JVM that was told that it is its turn
-- ARGV  1 owner token
--       2 lease time in milliseconds
--       3 how long to remember an idle fencing base, in milliseconds
--       4 id of the JVM that asks
--       5 '1' to put that JVM into the queue when the lock is refused
--       6 how long to remember a queue without arrivals, in milliseconds
-- Returns {1, fencing base, number of other JVMs in the queue} when granted,
--         {0, remaining milliseconds or -1} when refused

local lock, fence, queue, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease, retention = ARGV[1], ARGV[2], ARGV[3]
local jvm, enqueue, patience = ARGV[4], ARGV[5], ARGV[6]
local call = redis.call

local waiting = call('ZCARD', queue)
-- A free lock is kept for a moment for the JVM that was told so
local next = waiting > 0 and call('GET', turn)
local kept = next and next ~= jvm and call('EXISTS', lock) == 0
local granted = not kept and call('SET', lock, owner, 'NX', 'PX', lease)

local base
if not granted and call('GET', lock) == owner then
  -- The same request again: its answer was lost
  granted = call('PEXPIRE', lock, lease)
  base = tonumber(call('GET', fence) or nil)
end

local now = call('TIME')
local micros = (now[1] - 1704067200) * 1000000 + now[2] -- since 2024, to stay small

if granted then
  if not base then
    -- A hybrid clock: larger than the last base, and than any before the data was lost.
    -- Numbers are doubles, exact up to 2^53, but tostring() would round them.
    base = micros
    local last = tonumber(call('SET', fence, string.format('%.0f', base), 'PX', retention, 'GET') or 0)
    if last >= base then
      base = last + 1
      call('SET', fence, string.format('%.0f', base), 'PX', retention)
    end
  end
  if waiting > 0 then
    waiting = waiting - call('ZREM', queue, jvm)
    if next == jvm then
      call('DEL', turn)
    end
  end
  return {1, base, waiting}
end

if enqueue == '1' then
  local ticket = tonumber(call('ZSCORE', queue, jvm) or 1)
  if ticket == 1 then
    -- Behind all who wait, even if the clock of the server was set back
    local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
    ticket = math.max(2 * micros, 2 * math.floor((last[2] or 0) / 2) + 2)
  end
  call('ZADD', queue, string.format('%.0f', ticket - ticket % 2), jvm)
  call('PEXPIRE', queue, patience)
end
return {0, call('PTTL', kept and turn or lock)}
