-- Included where a place in the queue may be in somebody's way.
-- Needs: call, channels, countable

local function jvmOf(place)
  return string.match(place, '^[^:]+')
end

-- A JVM that nobody hears is dead or cut off
local function isGone(place)
  local listeners = countable == '1' and redis.pcall('PUBSUB', 'NUMSUB', channels .. jvmOf(place))
  return listeners and listeners[2] == 0
end
