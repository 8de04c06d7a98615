-- Grants a lock to an owner if nobody else holds it.
--
-- KEYS  1 lock, a string whose value is the owner token
--       2 queue of those who wait for it; see enqueue.lua
--       3 the place that was told that it is its turn
--       4 the fencing base of the last tenure
-- ARGV  1 owner token
--       2 lease time in milliseconds
--       3 how long to remember an idle fencing base, in milliseconds
--       4 id of the JVM that asks
--       5 its place
--       6 what the place needs, see enqueue.lua, to put it into the queue when the lock is
--         refused, or ''
--       7 how long to remember a queue without arrivals, in milliseconds
-- Returns {1, fencing base, number of other places in the queue} when granted,
--         {0, remaining milliseconds or -1} when refused

local lock, queue, turn, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease, retention = ARGV[1], ARGV[2], ARGV[3]
local jvm, place, need, patience = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local call = redis.call

local waiting = call('ZCARD', queue)
-- A free lock is kept for a moment for the JVM that was told so
local next = waiting > 0 and call('GET', turn)
local mine = next and string.match(next, '^[^:]+') == jvm
local kept = next and not mine and call('EXISTS', lock) == 0
local granted = not kept and call('SET', lock, owner, 'NX', 'PX', lease)

local base
if not granted and call('GET', lock) == owner then
  -- The same request again: its answer was lost
  granted = call('PEXPIRE', lock, lease)
  base = tonumber(call('GET', fence) or nil)
end

if granted then
  if not base then
    -- include fence.lua
  end
  if waiting > 0 then
    waiting = waiting - call('ZREM', queue, jvm, jvm .. ':read')
    if mine then
      call('DEL', turn)
      -- include enqueue.lua
      untell(next)
    end
  end
  return {1, base, waiting}
end

if need ~= '' then
  -- include enqueue.lua
  enqueue(place)
end
return {0, call('PTTL', kept and turn or lock)}
