-- The vocabulary of all scripts, and how a place gets into the queue of a lock.
--
-- instance  One JVM of the application. Its id is a dot, its name with '/' instead of ':', a dot,
--           and 22 random characters. It listens on a channel whose name ends in its id. An
--           instance without listeners is gone: it is dead or cut off.
-- queue     The waiting line of a lock: its places, a sorted set by ticket.
-- place     The id of an instance, followed by ':read' if the place waits to share the lock,
--           or by ':' and the random half of an owner token if it waits in FAIR mode. So an
--           instance has at most one exclusive and one shared place, and any number of FAIR
--           places.
-- ticket    Twice the time of arrival in microseconds, plus one if the place is woken. A
--           place keeps it until the lock is granted.
-- woken     A place is woken between the message that the lock is free and the next request
--           of its instance.
-- turn      The first place that was woken. A free lock is reserved for it for a moment.
-- need      How often the shortest turn, which is 20 milliseconds, is doubled for a place,
--           because a distant instance takes longer to ask. If the id of the instance begins
--           with a dot, the need is part of the ticket: the time is a multiple of eight plus it.

local function needOf(place, ticket)
  return string.byte(place) == 46 and math.floor(ticket / 2) % 8 or 0
end

-- Puts a place behind all others, even if the clock of the server was set back. A place that
-- is already in the queue keeps its ticket. An exclusive place replaces the shared one of its
-- instance, and the other way round, with its ticket. A woken place that asks and is refused
-- needs more than it stated.
local function enqueue(queue, instance, place, need, retention)
  local call = redis.call
  local ticket = call('ZSCORE', queue, place)
  local shared = instance .. ':read'
  local other = place == instance and shared or place == shared and instance
  if not ticket and other then
    ticket = call('ZSCORE', queue, other)
    call('ZREM', queue, other)
  end
  need = tonumber(need)
  if ticket then
    need = math.min(6, math.max(need, needOf(place, ticket) + ticket % 2))
  else
    local now = call('TIME')
    local micros = (now[1] - 1704067200) * 1000000 + now[2]
    local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
    ticket = math.max(2 * micros, (last[2] or 0) + 16)
  end
  call('ZADD', queue, ticket - ticket % 16 + 2 * need, place)
  if call('PTTL', queue) < tonumber(retention) then
    call('PEXPIRE', queue, retention)
  end
end

-- Puts the place into the queue for which its instance has asked and was refused. No other
-- place of the instance is woken any more. Places further behind need not be looked at: they
-- are not passed over by wake.lua. Needs place.lua.
local function enqueueRefused(queue, instance, place, need, retention)
  local call = redis.call
  local places = call('ZRANGE', queue, 0, 16, 'WITHSCORES')
  for i = 1, #places, 2 do
    local other, ticket = places[i], places[i + 1]
    if ticket % 2 == 1 and other ~= place and instanceOf(other) == instance then
      call('ZADD', queue, ticket - 1, other)
    end
  end
  enqueue(queue, instance, place, need, retention)
end
