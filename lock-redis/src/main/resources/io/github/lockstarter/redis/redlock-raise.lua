-- Raises the fencing base of a lock that its owner holds on this server.
--
-- KEYS  1 lock
--       2 its fencing base
-- ARGV  1 owner token and ':'
--       2 fencing base that must be reached
--       3 how long to remember an idle fencing base, in milliseconds
-- Returns 1 when the base is reached, 0 when the owner does not hold the lock

local lock, fence = KEYS[1], KEYS[2]
local owner, base, fenceRetention = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

if string.sub(call('GET', lock) or '', 1, #owner) ~= owner then
  return 0
end
if tonumber(call('GET', fence) or 0) < tonumber(base) then
  call('SET', fence, base, 'PX', fenceRetention)
end
return 1
