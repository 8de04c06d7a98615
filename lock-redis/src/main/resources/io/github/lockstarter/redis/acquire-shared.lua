-- Grants a shared lock to an owner, unless another owner holds it exclusively, or an exclusive
-- or FAIR place stands before those of the instance.
--
-- KEYS  as in acquire.lua
-- ARGV  1 to 7 as in acquire.lua, and
--       8 beginning of the channel names; the id of an instance follows
--       9 '1' if the server knows all listeners; one of a cluster knows only its own
-- Returns what acquire.lua does

local lock, queue, turn, fence, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, lease, fenceRetention = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local instance, place, need, queueRetention = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local channelPrefix, listenersKnown = ARGV[8], ARGV[9]
local call = redis.call

-- Uses place.lua, listeners.lua, readers.lua

-- Returns the first place of a writer before those of the instance, or nil, and removes such
-- places whose instances are gone. A woken place does not count: it has missed its turn.
local function findWriter(queue, instance, channelPrefix, listenersKnown)
  local places = redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES')
  for i = 1, #places, 2 do
    local waiter, ticket = places[i], places[i + 1]
    if instanceOf(waiter) == instance then
      break
    end
    if not isReader(waiter) and ticket % 2 == 0 then
      if listenersOf(waiter, channelPrefix, listenersKnown) ~= 0 then
        return waiter
      end
      redis.call('ZREM', queue, waiter)
    end
  end
end

local waiting = call('EXISTS', queue) == 1
local holder = call('GET', lock)
local exclusive = holder and holder ~= 'shared'
local now = not exclusive and millis()
local nextPlace = not exclusive and waiting and call('GET', turn)
local mine = nextPlace and instanceOf(nextPlace) == instance

local obstacle
if exclusive then
  obstacle = lock
elseif holder then
  call('ZREMRANGEBYSCORE', readers, '-inf', now)
  if call('EXISTS', readers) == 0 then
    -- Another program has set the value
    obstacle = lock
  elseif waiting and not call('ZSCORE', readers, owner) then
    obstacle = findWriter(queue, instance, channelPrefix, listenersKnown) and lock
  end
else
  call('DEL', readers)
  if nextPlace and not mine and not isReader(nextPlace) then
    obstacle = turn
  end
end

-- Uses fence.lua

local base
if not obstacle then
  call('ZADD', readers, now + lease, owner)
  if not holder then
    call('SET', lock, 'shared')
  end
  expireWithLast(lock, readers)
  -- Also for a repeated request: the last base may be that of another reader
  base = mint(fence, fenceRetention)
  if not waiting then
    return {1, base}
  end
end

-- Uses queue.lua, leave.lua

if not obstacle then
  leave(queue, turn, instance, mine and nextPlace)
  return {1, base}
end
if need ~= '' then
  enqueueRefused(queue, instance, place, need, queueRetention)
end
local reader = holder == 'shared' and call('ZRANGE', readers, -1, -1)[1]
return {0, call('PTTL', obstacle), string.sub(reader or holder or '', 1, 128)}
