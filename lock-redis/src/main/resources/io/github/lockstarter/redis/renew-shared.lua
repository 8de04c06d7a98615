-- Extends shares of locks to their full length from now on, or asks who still has them.
--
-- KEYS  for each of them the lock and the owners who share it; see acquire-shared.lua
-- ARGV  1 lease time in milliseconds, 0 to extend nothing
--       and then an owner token for each of the locks
-- Returns 1 for each that its owner holds, 0 for each that it does not

local lease = tonumber(ARGV[1])
local call, pcall = redis.call, redis.pcall

local time = call('TIME')
local millis = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
for i = 1, #KEYS / 2 do
  local lock, readers, owner = KEYS[2 * i - 1], KEYS[2 * i], ARGV[i + 1]
  -- A key of another type must not cost those who hold the other locks theirs
  local ends = tonumber(pcall('ZSCORE', readers, owner) or nil)
  answers[i] = 0
  if ends and ends > millis and pcall('GET', lock) == 'shared' then
    answers[i] = 1
    if lease > 0 then
      call('ZADD', readers, string.format('%.0f', millis + lease), owner)
      local last = call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
      call('PEXPIREAT', lock, last)
      call('PEXPIREAT', readers, last)
    end
  end
end
return answers
