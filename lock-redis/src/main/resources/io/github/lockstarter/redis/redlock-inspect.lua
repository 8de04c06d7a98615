-- Shows who holds a lock on this server, and changes nothing.
--
-- KEYS  1 lock
--       2 its fencing base
-- Returns {fencing base or 0, remaining milliseconds, -1 without an end, -2 if it is free,
--          value or ''}; at most 128 characters of the value, as in acquire.lua

local lock, fence = KEYS[1], KEYS[2]
local call = redis.call

local value = string.sub(call('GET', lock) or '', 1, 128)
return {tonumber(call('GET', fence) or 0), call('PTTL', lock), value}
