-- Grants an exclusive lock to an owner, unless another owner holds it.
--
-- KEYS  1 lock, a string whose value is the owner token
--       2 queue of the lock; see queue.lua for this and all other words
--       3 turn
--       4 fencing base of the last ownership
--       5 readers; see readers.lua
-- ARGV  1 owner token
--       2 lease time in milliseconds
--       3 how long to remember an idle fencing base, in milliseconds
--       4 id of the instance that asks
--       5 its place
--       6 need of the place, to put it into the queue when the lock is refused; or ''
--       7 how long to remember an idle queue, in milliseconds
-- Returns {1, fencing base} when granted,
--         {0, remaining milliseconds or -1, an owner that holds the lock or ''} when refused;
--         at most 128 characters of it, which are more than an owner token has, because the
--         value of another program may be long

local lock, queue, turn, fence, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, lease, fenceRetention = ARGV[1], ARGV[2], ARGV[3]
local instance, place, need, queueRetention = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local call = redis.call

-- Uses place.lua

local waiting = call('EXISTS', queue) == 1
local nextPlace = waiting and call('GET', turn)
local mine = nextPlace and instanceOf(nextPlace) == instance
local reserved = nextPlace and not mine and call('EXISTS', lock) == 0
local granted = not reserved and call('SET', lock, owner, 'NX', 'PX', lease)

local base
local holder = not granted and call('GET', lock)
if holder == owner then
  -- The same request again: its answer was lost
  granted = call('PEXPIRE', lock, lease)
  base = tonumber(call('GET', fence) or nil)
end
local refusal
if not granted then
  local reader = holder == 'shared' and call('ZRANGE', readers, -1, -1)[1]
  refusal = {0, call('PTTL', reserved and turn or lock), string.sub(reader or holder or '', 1, 128)}
  if need == '' then
    return refusal
  end
end

-- Uses fence.lua

if granted then
  base = base or mint(fence, fenceRetention)
  if not waiting then
    return {1, base}
  end
end

-- Uses queue.lua, leave.lua

if granted then
  leave(queue, turn, instance, mine and nextPlace)
  return {1, base}
end
enqueueRefused(queue, instance, place, need, queueRetention)
return refusal
