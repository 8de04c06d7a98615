-- Functions that wake the places in the queue of a lock. They need place.lua, queue.lua and
-- listeners.lua, and these fields of their last parameter:
--
-- channels.prefix   beginning of the channel names; the id of an instance follows
-- channels.message  the lock, as its waiters know it
-- channels.known    '1' if the server knows all listeners; one of a cluster knows only its own
-- channels.turn     the shortest turn in milliseconds

-- Sends the message to the instance of a place, and returns whether it may have arrived.
-- If publishing is not permitted it has not, but the lock is free all the same.
local function publish(place, channels)
  local listeners = redis.pcall('PUBLISH', channels.prefix .. instanceOf(place), channels.message)
  return type(listeners) == 'number' and (listeners > 0 or channels.known ~= '1')
end

-- Wakes adjacent readers from a rank on, and returns the place behind them.
local function wakeReaders(queue, rank, channels)
  local call = redis.call
  local first = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  while first[1] and isReader(first[1]) do
    if first[2] % 2 == 0 and publish(first[1], channels) then
      call('ZADD', queue, first[2] + 1, first[1])
    end
    rank = rank + 1
    first = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  end
  return first[1]
end

-- Wakes the readers behind a reader that was woken, to share the lock with it. If the server
-- cannot tell whether the first place is gone, the next place gets the message too, and asks
-- when the turn of the first is over.
local function wakeBehind(queue, first, rank, channels)
  local behind
  if isReader(first) then
    behind = wakeReaders(queue, rank + 1, channels)
  else
    behind = redis.call('ZRANGE', queue, rank + 1, rank + 1)[1]
  end
  if channels.known ~= '1' and behind then
    publish(behind, channels)
  end
end

-- Wakes the first place that can be reached, gives it the turn, and returns whether there is
-- such a place. Places of instances that are gone are removed. Another instance that was
-- already woken and has not asked since is passed over with all its places. These stay in the
-- queue while the instance listens, but at most sixteen, because each takes time to pass.
local function wake(queue, turn, instance, channels)
  local call = redis.call
  local rank, late = 0, {}
  local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  while first[1] do
    local place, ticket = first[1], tonumber(first[2])
    local waiter = instanceOf(place)
    local woken = ticket % 2 == 1 and waiter ~= instance
    local passed = rank < 16 and (woken or late[waiter])
    if passed and (listenersOf(place, channels.prefix, channels.known) or 0) > 0 then
      late[waiter] = true
      rank = rank + 1
    elseif not woken and publish(place, channels) then
      call('ZADD', queue, ticket - ticket % 2 + 1, place)
      call('SET', turn, place, 'PX', channels.turn * 2 ^ needOf(place, ticket))
      wakeBehind(queue, place, rank, channels)
      return true
    else
      call('ZREM', queue, place)
    end
    first = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  end
  return false
end
