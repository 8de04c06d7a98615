-- Ends the turn of a place after another place of its instance was granted the lock. If it is
-- still in the queue, it is no longer woken, and gets the other ticket if there is one.
local function endTurn(queue, turn, place, ticket)
  local call = redis.call
  call('DEL', turn)
  local own = call('ZSCORE', queue, place)
  if own then
    ticket = ticket or own
    call('ZADD', queue, ticket - ticket % 2, place)
  end
end

-- Removes the exclusive and the shared place of an instance, and ends the turn of a place if
-- one is passed.
local function leave(queue, turn, instance, nextPlace)
  redis.call('ZREM', queue, instance, instance .. ':read')
  if nextPlace then
    endTurn(queue, turn, nextPlace)
  end
end
