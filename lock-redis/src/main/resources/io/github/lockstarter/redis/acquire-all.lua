-- Grants several exclusive locks to their owners, or none of them.
--
-- KEYS  for each lock the first four of acquire.lua
-- ARGV  1 id of the instance that asks
--       2 how long to remember an idle fencing base, in milliseconds
--       and then for each lock an owner token and the lease time in milliseconds
-- Returns for each lock the fencing base and the number of other places in its queue when
--         all are granted, otherwise nothing

local instance, fenceRetention = ARGV[1], ARGV[2]
local call = redis.call

-- Uses place.lua

local holders, nextPlaces = {}, {}
for i = 1, #KEYS / 4 do
  local lock, turn, owner = KEYS[4 * i - 3], KEYS[4 * i - 1], ARGV[2 * i + 1]
  holders[i] = call('GET', lock)
  nextPlaces[i] = call('GET', turn)
  local foreign = nextPlaces[i] and instanceOf(nextPlaces[i]) ~= instance
  if holders[i] and holders[i] ~= owner or foreign and not holders[i] then
    return {}
  end
end

-- Uses fence.lua, leave.lua

local answers = {}
for i = 1, #KEYS / 4 do
  local lock, queue, turn, fence = KEYS[4 * i - 3], KEYS[4 * i - 2], KEYS[4 * i - 1], KEYS[4 * i]
  local owner, lease = ARGV[2 * i + 1], ARGV[2 * i + 2]
  call('SET', lock, owner, 'PX', lease)
  local known = holders[i] and tonumber(call('GET', fence) or nil)
  answers[2 * i - 1] = known or mint(fence, fenceRetention)
  leave(queue, turn, instance, nextPlaces[i])
  answers[2 * i] = call('ZCARD', queue)
end
return answers
