-- Grants several locks to owners that want them alone, or none of them.
--
-- KEYS  for each of them the first four of acquire.lua
-- ARGV  1 id of the JVM that asks
--       2 how long to remember an idle fencing base, in milliseconds
--       and then for each lock an owner token and the lease time in milliseconds
-- Returns for each lock the fencing base and the number of other places in its queue when
--         all are granted, else nothing

local jvm, retention = ARGV[1], ARGV[2]
local call = redis.call

local holders, turns = {}, {}
for i = 1, #KEYS / 4 do
  local lock, turn, owner = KEYS[4 * i - 3], KEYS[4 * i - 1], ARGV[2 * i + 1]
  holders[i] = call('GET', lock)
  turns[i] = call('GET', turn)
  local foreign = turns[i] and string.match(turns[i], '^[^:]+') ~= jvm
  if holders[i] and holders[i] ~= owner or foreign and not holders[i] then
    return {}
  end
end

local answers = {}
for i = 1, #KEYS / 4 do
  local lock, queue, turn, fence = KEYS[4 * i - 3], KEYS[4 * i - 2], KEYS[4 * i - 1], KEYS[4 * i]
  call('SET', lock, ARGV[2 * i + 1], 'PX', ARGV[2 * i + 2])
  local base = holders[i] and tonumber(call('GET', fence) or nil)
  if not base then
    -- include fence.lua
  end
  call('ZREM', queue, jvm, jvm .. ':read')
  if turns[i] then
    call('DEL', turn)
    -- include enqueue.lua
    untell(turns[i])
  end
  answers[2 * i - 1] = base
  answers[2 * i] = call('ZCARD', queue)
end
return answers
