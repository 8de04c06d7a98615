-- Returns the number of listeners of a place's instance, or nil if the server does not know.
-- Needs place.lua.
local function listenersOf(place, channelPrefix, listenersKnown)
  local answer = listenersKnown == '1'
      and redis.pcall('PUBSUB', 'NUMSUB', channelPrefix .. instanceOf(place))
  return answer and answer[2] or nil
end
