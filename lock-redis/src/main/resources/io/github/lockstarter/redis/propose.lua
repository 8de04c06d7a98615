-- Returns and remembers a new fencing base: larger than the last one, and not smaller than the
-- proposed one. Numbers as in fence.lua.
local function accept(fence, proposed, retention)
  local call = redis.call
  local base = math.max(tonumber(call('GET', fence) or 0) + 1, tonumber(proposed))
  call('SET', fence, base, 'PX', retention)
  return base
end
