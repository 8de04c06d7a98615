-- Grants a FAIR lock to an owner, unless another owner holds it, or the first place in the
-- queue belongs to another instance that can be reached.
--
-- KEYS  as in acquire.lua
-- ARGV  1 to 7 as in acquire.lua, and
--       8 beginning of the channel names; the id of an instance follows
--       9 the lock, as its waiters know it
--       10 '1' if the server knows all listeners; one of a cluster knows only its own
--       11 the shortest turn in milliseconds
-- Returns what acquire.lua does

local lock, queue, turn, fence, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, lease, fenceRetention = ARGV[1], ARGV[2], ARGV[3]
local instance, place, need, queueRetention = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local channels = { prefix = ARGV[8], message = ARGV[9], known = ARGV[10], turn = ARGV[11] }
local call = redis.call

-- Uses place.lua, queue.lua, leave.lua, listeners.lua, wake.lua

local nextPlace = call('GET', turn)
local free = call('EXISTS', lock) == 0
if free and not nextPlace then
  local first = call('ZRANGE', queue, 0, 0)[1]
  if first and instanceOf(first) ~= instance and wake(queue, turn, instance, channels) then
    nextPlace = call('GET', turn)
  end
end
local mine = nextPlace and instanceOf(nextPlace) == instance
local reserved = free and nextPlace and not mine
local granted = not reserved and call('SET', lock, owner, 'NX', 'PX', lease)

local base
local holder = not granted and call('GET', lock)
if holder == owner then
  -- The same request again: its answer was lost
  granted = call('PEXPIRE', lock, lease)
  base = tonumber(call('GET', fence) or nil)
end

-- Uses fence.lua

if granted then
  base = base or mint(fence, fenceRetention)
  if mine then
    -- An instance admits its own waiters in FIFO order: the two places swap their tickets
    endTurn(queue, turn, nextPlace, call('ZSCORE', queue, place))
  end
  call('ZREM', queue, place)
  return {1, base}
end

if need ~= '' then
  enqueueRefused(queue, instance, place, need, queueRetention)
end
local reader = holder == 'shared' and call('ZRANGE', readers, -1, -1)[1]
return {0, call('PTTL', reserved and turn or lock), string.sub(reader or holder or '', 1, 128)}
