-- Returns how many listen for the instance of a place, or nil if the server cannot tell.
-- Needs place.lua.
local function listenersOf(place, channelPrefix, listenersKnown)
  local answer = listenersKnown == '1'
      and redis.pcall('PUBSUB', 'NUMSUB', channelPrefix .. instanceOf(place))
  return answer and answer[2] or nil
end
