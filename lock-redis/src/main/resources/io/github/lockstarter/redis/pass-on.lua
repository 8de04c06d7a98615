-- Wakes the first place for a lock that was released, and puts a place of the instance that
-- released it behind all others unless it is ''. Returns the same as release.lua. Needs
-- queue.lua, leave.lua and wake.lua.
local function passOn(queue, turn, instance, place, need, retention, channels)
  if place ~= '' then
    leave(queue, turn, instance)
  end
  if not wake(queue, turn, instance, channels) then
    return 1
  end
  if place ~= '' then
    enqueue(queue, instance, place, need, retention)
  end
  return 2
end
