-- Gives a lock back and tells the first waiting JVM that can be reached. It keeps its
-- place in the queue until it holds the lock.
--
-- A ticket is twice the time of arrival in microseconds, plus one if its JVM was told that
-- it is its turn and has not asked for the lock since.
--
-- KEYS  1 lock
--       2 queue of the JVMs that wait for it
--       3 the JVM that was told that it is its turn
-- ARGV  1 owner token
--       2 id of the JVM that gives back
--       3 '1' to put that JVM at the end of the queue when another one was told
--       4 how long to remember a queue without arrivals, in milliseconds
--       5 start of the channel names; the id of a JVM follows
--       6 the lock, as its waiters know it
--       7 how long to keep the lock for the JVM that was told, in milliseconds
--       8 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns 0 when the owner does not hold the lock, 1 when it is free,
--         2 when it is free and a waiting JVM was told

local lock, queue, turn = KEYS[1], KEYS[2], KEYS[3]
local owner, jvm, enqueue, patience = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channels, name, precedence, countable = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local call = redis.call

if call('GET', lock) ~= owner then
  return 0
end
call('DEL', lock)
if call('EXISTS', queue) == 0 then
  return 1
end

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

if not wake() then
  return 1
end
if enqueue == '1' then
  -- Behind all who wait, even if the clock of the server was set back
  local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
  local now = call('TIME')
  local arrival = (tonumber(now[1]) - 1704067200) * 1000000 + tonumber(now[2])
  local ticket = math.max(2 * arrival, 2 * math.floor(tonumber(last[2]) / 2) + 2)
  call('ZADD', queue, string.format('%.0f', ticket), jvm)
  call('PEXPIRE', queue, patience)
end
return 2
