-- Returns the id of the instance that a place belongs to.
local function instanceOf(place)
  return string.match(place, '^[^:]+')
end

-- Returns whether a place waits to share the lock.
local function isReader(place)
  return string.sub(place, -5) == ':read'
end
