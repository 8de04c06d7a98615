-- Included after enqueue.lua where a lock becomes free: tells those who wait for it.
-- Needs: call, queue, turn, jvm, channels, name, countable

local function jvmOf(place)
  return string.match(place, '^[^:]+')
end

-- Where publishing is not permitted nobody can be told, but the lock is free all the same
local function tell(place)
  local listeners = redis.pcall('PUBLISH', channels .. jvmOf(place), name)
  return type(listeners) == 'number' and (listeners > 0 or countable ~= '1')
end

-- One that was told and has not asked yet may be on its way while somebody hears for it
local function isHeard(place)
  local listeners = countable == '1' and redis.pcall('PUBSUB', 'NUMSUB', channels .. jvmOf(place))
  return listeners and (listeners[2] or 0) > 0
end

-- Tells the readers that wait side by side from a rank on, and returns who is behind them
local function tellReaders(rank)
  local next = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  while next[1] and isReader(next[1]) do
    if next[2] % 2 == 0 and tell(next[1]) then
      setTicket(next[1], next[2] + 1)
    end
    rank = rank + 1
    next = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  end
  return next[1]
end

-- Readers share the lock with a reader that was told; and where nobody knows whether the
-- first is alive, the next one comes when its precedence is over
local function tellBehind(first, rank)
  local next
  if isReader(first) then
    next = tellReaders(rank + 1)
  else
    next = call('ZRANGE', queue, rank + 1, rank + 1)[1]
  end
  if countable ~= '1' and next then
    tell(next)
  end
end

-- Tells the first that can be reached, and returns whether there was one. A JVM that nobody
-- hears is dead or cut off. Another one with an odd ticket was told before and has not
-- come: it is passed over with all places of its JVM, and keeps its place for when it asks.
-- From the sixteenth on they lose theirs, as looking behind them takes time.
local function wake()
  local rank, late = 0, {}
  local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  while first[1] do
    local waiter, ticket = first[1], tonumber(first[2])
    local here = jvmOf(waiter) == jvm
    local told = ticket % 2 == 1 and not here
    if not here and (told or late[jvmOf(waiter)]) and rank < 16 and isHeard(waiter) then
      late[jvmOf(waiter)] = true
      rank = rank + 1
    elseif not told and tell(waiter) then
      setTicket(waiter, ticket - ticket % 2 + 1)
      call('SET', turn, waiter, 'PX', 20 * 2 ^ needOf(waiter, ticket))
      tellBehind(waiter, rank)
      return true
    else
      call('ZREM', queue, waiter)
    end
    first = call('ZRANGE', queue, rank, rank, 'WITHSCORES')
  end
  return false
end
