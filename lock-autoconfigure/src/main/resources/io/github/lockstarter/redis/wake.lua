-- Included after enqueue.lua where a lock becomes free: tells those who wait for it.
-- Needs: call, queue, turn, channels, name, precedence, countable

local function jvmOf(place)
  return string.match(place, '^[^:]+')
end

-- Where publishing is not permitted nobody can be told, but the lock is free all the same
local function tell(place)
  local listeners = redis.pcall('PUBLISH', channels .. jvmOf(place), name)
  return type(listeners) == 'number' and (listeners > 0 or countable ~= '1')
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
local function tellBehind(first)
  local next
  if isReader(first) then
    next = tellReaders(1)
  else
    next = call('ZRANGE', queue, 1, 1)[1]
  end
  if countable ~= '1' and next then
    tell(next)
  end
end

-- Tells the first that can be reached, and returns whether there was one. A JVM that nobody
-- hears is dead or cut off, and one with an odd ticket was told before and never came: the
-- next one is told instead.
local function wake()
  local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  while first[1] do
    local waiter, ticket = first[1], tonumber(first[2])
    if ticket % 2 == 0 and tell(waiter) then
      setTicket(waiter, ticket + 1)
      call('SET', turn, waiter, 'PX', precedence)
      tellBehind(waiter)
      return true
    end
    call('ZREM', queue, waiter)
    first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  end
  return false
end
