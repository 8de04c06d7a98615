-- Extends leases to their full length from now on, or checks which owners still hold their
-- locks. A lock that nobody holds, because this server was restarted or had refused its owner,
-- is taken for the owner, which counts from the next time on.
--
-- KEYS  for each of the locks: the lock, fencing base of its last ownership
-- ARGV  1 number of the attempt, which is also the proposed fencing base
--       2 how long to remember an idle fencing base, in milliseconds
--       and then for each of the locks: owner token and ':', lease time in milliseconds, 0 to
--       change nothing
-- Returns 1 for each that its owner held, 0 for each that it did not

local attempt, fenceRetention = ARGV[1], ARGV[2]
local call = redis.call

-- Uses propose.lua, remember.lua

local answers = {}
for i = 1, #KEYS, 2 do
  local lock, fence, owner, lease = KEYS[i], KEYS[i + 1], ARGV[i + 2], ARGV[i + 3]
  local holder = call('GET', lock)
  local held = holder and string.sub(holder, 1, #owner) == owner
  if held and lease ~= '0' then
    call('PEXPIRE', lock, lease)
    remember(fence, fenceRetention)
  elseif not holder and lease ~= '0' then
    call('SET', lock, owner .. attempt .. ':', 'PX', lease)
    accept(fence, attempt, fenceRetention)
  end
  answers[#answers + 1] = held and 1 or 0
end
return answers
