-- Takes a JVM out of the queue of a lock; if it was its turn, tells the next one.
--
-- KEYS  1 lock
--       2 queue of the JVMs that wait for it; see release.lua
--       3 the JVM that was told that it is its turn
-- ARGV  1 id of the JVM
--       2 start of the channel names; the id of a JVM follows
--       3 the lock, as its waiters know it
--       4 how long to keep the lock for the JVM that is told, in milliseconds
--       5 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns 1 when another JVM was told, else 0

local lock, queue, turn = KEYS[1], KEYS[2], KEYS[3]
local jvm, channels, name, precedence, countable = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call

-- Where publishing is not permitted nobody can be told, but the lock is free all the same
local function tell(waiter)
  local listeners = redis.pcall('PUBLISH', channels .. waiter, name)
  return type(listeners) == 'number' and (listeners > 0 or countable ~= '1')
end

-- A JVM that nobody hears is dead or cut off, and one with an odd ticket was told before
-- and never came: the next one is told instead
local function wake()
  local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  while first[1] do
    local waiter, ticket = first[1], tonumber(first[2])
    if waiter ~= jvm and ticket % 2 == 0 and tell(waiter) then
      call('ZADD', queue, string.format('%.0f', ticket + 1), waiter)
      call('SET', turn, waiter, 'PX', precedence)
      if countable ~= '1' then
        -- Nobody knows whether it is alive: the next one comes when its precedence is over
        local second = call('ZRANGE', queue, 1, 1)
        if second[1] and second[1] ~= jvm then
          tell(second[1])
        end
      end
      return true
    end
    call('ZREM', queue, waiter)
    first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  end
  return false
end

call('ZREM', queue, jvm)
local next = call('GET', turn)
if next == jvm then
  call('DEL', turn)
elseif next then
  return 0
end
if call('EXISTS', lock) == 0 and wake() then
  return 1
end
return 0
