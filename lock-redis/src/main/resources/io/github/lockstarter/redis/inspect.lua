-- Shows who holds a lock and who waits for it, and changes nothing.
--
-- KEYS  as in acquire.lua
-- Returns {last fencing base or 0, remaining milliseconds, -1 without an end, -2 if it is free,
--          value of the lock or '',
--          number of readers, and for each its owner token and its remaining milliseconds,
--          and then the places in the queue}; at most 128 characters of a value, as in acquire.lua

local lock, queue, fence, readers = KEYS[1], KEYS[2], KEYS[4], KEYS[5]
local call = redis.call

-- Uses readers.lua

local value = call('GET', lock) or ''
local answer = {tonumber(call('GET', fence) or 0), call('PTTL', lock), string.sub(value, 1, 128), 0}
local now = millis()
local owners = value == 'shared' and call('ZRANGE', readers, 0, -1, 'WITHSCORES') or {}
for i = 1, #owners, 2 do
  if tonumber(owners[i + 1]) > now then
    answer[4] = answer[4] + 1
    answer[#answer + 1] = string.sub(owners[i], 1, 128)
    answer[#answer + 1] = owners[i + 1] - now
  end
end
for _, place in ipairs(call('ZRANGE', queue, 0, -1)) do
  answer[#answer + 1] = place
end
return answer
