-- Releases a lock on this server.
--
-- KEYS  1 lock
-- ARGV  1 owner token and ':', to which the number of an attempt and ':' are added to release
--         only what this attempt has acquired
-- Returns 1 when the lock is free, 0 when the owner did not hold it

local lock, owner = KEYS[1], ARGV[1]
local call = redis.call

if string.sub(call('GET', lock) or '', 1, #owner) ~= owner then
  return 0
end
return call('DEL', lock)
