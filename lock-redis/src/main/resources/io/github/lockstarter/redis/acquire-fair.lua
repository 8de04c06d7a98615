-- Grants a lock to an owner if nobody else holds it, and nobody that can be reached came
-- before.
--
-- KEYS  as in acquire.lua
-- ARGV  1 to 7 as in acquire.lua, and
--       8 start of the channel names; the id of a JVM follows
--       9 the lock, as its waiters know it
--       10 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns what acquire.lua does

local lock, queue, turn, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease, retention = ARGV[1], ARGV[2], ARGV[3]
local jvm, place, need, patience = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local channels, name, countable = ARGV[8], ARGV[9], ARGV[10]
local call = redis.call

-- include enqueue.lua
-- include wake.lua

local next = call('GET', turn)
local free = call('EXISTS', lock) == 0
if free and not next then
  local first = call('ZRANGE', queue, 0, 0)[1]
  if first and jvmOf(first) ~= jvm and wake() then
    next = call('GET', turn)
  end
end
local mine = next and jvmOf(next) == jvm
local kept = free and next and not mine
local granted = not kept and call('SET', lock, owner, 'NX', 'PX', lease)

local base
if not granted and call('GET', lock) == owner then
  granted = call('PEXPIRE', lock, lease)
  base = tonumber(call('GET', fence) or nil)
end

if granted then
  if not base then
    -- include fence.lua
  end
  if mine then
    -- The JVM lets its own waiters in as they came to it: the two change places
    untell(next, call('ZSCORE', queue, place))
    call('DEL', turn)
  end
  call('ZREM', queue, place)
  return {1, base, call('ZCARD', queue)}
end

if need ~= '' then
  enqueue(place)
end
return {0, call('PTTL', kept and turn or lock)}
