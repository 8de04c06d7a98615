-- Included where somebody has to wait: the queue of a lock, a sorted set of places by
-- ticket. Needs: call, queue, jvm, patience
--
-- A place is named by the id of its JVM, followed by ':read' if it wants to share the lock,
-- or by ':' and an owner token if it waits in order of arrival. A ticket is twice the time
-- of arrival in microseconds, plus one if the place was told that it is its turn and has
-- not asked for the lock since. It is kept until the lock is granted.

local function isReader(place)
  return string.sub(place, -5) == ':read'
end

local function setTicket(place, ticket)
  call('ZADD', queue, string.format('%.0f', ticket), place)
end

-- Lets a place wait for its turn again that was told and found another one of its JVM
-- faster; at another ticket if there is one
local function untell(place, ticket)
  local own = call('ZSCORE', queue, place)
  if own then
    ticket = ticket or own
    setTicket(place, ticket - ticket % 2)
  end
end

-- Puts a place of this JVM behind all who wait, even if the clock of the server was set
-- back, or leaves it where it stands: also one that wants to share what it wanted alone
local function enqueue(place)
  local ticket = call('ZSCORE', queue, place)
  if not ticket and (place == jvm or isReader(place)) then
    local other = (place == jvm) and jvm .. ':read' or jvm
    ticket = call('ZSCORE', queue, other)
    call('ZREM', queue, other)
  end
  if not ticket then
    local now = call('TIME')
    local micros = (now[1] - 1704067200) * 1000000 + now[2]
    local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
    ticket = math.max(2 * micros, 2 * math.floor((last[2] or 0) / 2) + 2)
  end
  setTicket(place, ticket - ticket % 2)
  if call('PTTL', queue) < tonumber(patience) then
    call('PEXPIRE', queue, patience)
  end
end
