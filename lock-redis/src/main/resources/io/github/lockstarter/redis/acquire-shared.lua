-- Grants a share of a lock to an owner if nobody holds it alone, and nobody who wants it
-- alone came before.
--
-- While the lock is shared its value is 'shared', so that nobody can take it alone, and it
-- lives as long as the longest share.
--
-- KEYS  1 to 4 as in acquire.lua, and
--       5 the owners who share the lock, a sorted set by the end of their leases in
--         milliseconds since 1970
-- ARGV  1 to 7 as in acquire.lua, and
--       8 start of the channel names; the id of a JVM follows
--       9 '1' if the server knows who listens; in a cluster it knows a part of them only
-- Returns what acquire.lua does

local lock, queue, turn, fence, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, lease, retention = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local jvm, place, need, patience = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local channels, countable = ARGV[8], ARGV[9]
local call = redis.call

local waiting = call('ZCARD', queue)

-- include enqueue.lua
-- include gone.lua

-- One that was told and never came is not waited for
local function isBehindWriter()
  local places = call('ZRANGE', queue, 0, -1, 'WITHSCORES')
  for i = 1, #places, 2 do
    local waiter = places[i]
    if jvmOf(waiter) == jvm then
      return false
    end
    if not isReader(waiter) and places[i + 1] % 2 == 0 then
      if not isGone(waiter) then
        return true
      end
      waiting = waiting - call('ZREM', queue, waiter)
    end
  end
  return false
end

local function refuse(obstacle)
  if need ~= '' then
    enqueue(place)
  end
  return {0, call('PTTL', obstacle)}
end

local holder = call('GET', lock)
if holder and holder ~= 'shared' then
  return refuse(lock)
end
local time = call('TIME')
local millis = time[1] * 1000 + math.floor(time[2] / 1000)
local next = waiting > 0 and call('GET', turn)
local mine = next and jvmOf(next) == jvm
if holder then
  call('ZREMRANGEBYSCORE', readers, '-inf', millis)
  -- Without readers it is another program that has set what we do
  if call('EXISTS', readers) == 0 then
    return refuse(lock)
  end
  if waiting > 0 and not call('ZSCORE', readers, owner) and isBehindWriter() then
    return refuse(lock)
  end
else
  call('DEL', readers)
  if next and not mine and not isReader(next) then
    return refuse(turn)
  end
end

call('ZADD', readers, string.format('%.0f', millis + lease), owner)
local ends = call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
if not holder then
  call('SET', lock, 'shared')
end
call('PEXPIREAT', lock, ends)
call('PEXPIREAT', readers, ends)

-- Also for the same request again: by now the last base may be that of another reader
local base
-- include fence.lua
if waiting > 0 then
  waiting = waiting - call('ZREM', queue, jvm, jvm .. ':read')
  if mine then
    call('DEL', turn)
    untell(next)
  end
end
return {1, base, waiting}
