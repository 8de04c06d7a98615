-- Votes on a request for a lock, as one of several independent servers.
--
-- KEYS  1 lock, a string whose value is the owner and the number of its attempt
--       2 fencing base of the last ownership
-- ARGV  1 owner token and ':'
--       2 number of the attempt, which is also the proposed fencing base
--       3 lease time in milliseconds
--       4 how long to remember an idle fencing base, in milliseconds
-- Returns {run id, its length in seconds, 1, fencing base, ''} when granted,
--         {run id, its length in seconds, 0, remaining milliseconds or -1, value} when refused;
--         at most 128 characters of the value, as in acquire.lua

local lock, fence = KEYS[1], KEYS[2]
local owner, attempt, lease, fenceRetention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call = redis.call

-- Uses run.lua, propose.lua

local id, uptime = thisRun()
local value = owner .. attempt .. ':'
if call('SET', lock, value, 'NX', 'PX', lease) then
  return {id, uptime, 1, accept(fence, attempt, fenceRetention), ''}
end
local holder = call('GET', lock)
if string.sub(holder, 1, #owner) ~= owner then
  return {id, uptime, 0, call('PTTL', lock), string.sub(holder, 1, 128)}
end
-- The same owner again: a late release of its earlier attempt must not match
call('SET', lock, value, 'PX', lease)
local base = call('GET', fence) or accept(fence, attempt, fenceRetention)
return {id, uptime, 1, tonumber(base), ''}
