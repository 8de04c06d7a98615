-- Gives a share of a lock back, and with the last one the lock; then it tells the first
-- waiting JVM that can be reached.
--
-- KEYS  1 to 3 as in release.lua, and
--       4 the owners who share the lock; see acquire-shared.lua
--       5 remembers this release; see release.lua
-- ARGV  as in release.lua
-- Returns 0 when the owner does not share the lock, 1 when its share is given back or this
--         is a repetition, 2 when the lock is free and a waiting JVM was told

local lock, queue, turn, readers, released = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, jvm, place, patience = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local channels, name, need, countable = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local call = redis.call

local time = call('TIME')
local millis = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = tonumber(call('ZSCORE', readers, owner) or 0)
if ends <= millis or call('GET', lock) ~= 'shared' then
  return released and call('EXISTS', released) or 0
end
call('ZREM', readers, owner)
if released then
  redis.pcall('SET', released, '', 'PX', 10000)
end
call('ZREMRANGEBYSCORE', readers, '-inf', millis)
local last = call('ZRANGE', readers, -1, -1, 'WITHSCORES')
if last[1] then
  -- Perhaps the longest of the other shares is that of a JVM that is dead
  call('PEXPIREAT', lock, last[2])
  call('PEXPIREAT', readers, last[2])
  return 1
end
call('DEL', lock)
if call('EXISTS', queue) == 0 then
  return 1
end

-- include enqueue.lua
-- include wake.lua

if place ~= '' then
  call('ZREM', queue, jvm, jvm .. ':read')
end
if not wake() then
  return 1
end
if place ~= '' then
  enqueue(place)
end
return 2
