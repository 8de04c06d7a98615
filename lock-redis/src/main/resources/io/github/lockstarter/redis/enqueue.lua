-- Included where somebody has to wait: the queue of a lock, a sorted set of places by
-- ticket. Needs: call, queue, jvm, patience, need
--
-- A place is named by the id of its JVM, followed by ':read' if it wants to share the lock,
-- or by ':' and an owner token if it waits in order of arrival. A ticket is twice the time
-- of arrival in microseconds, plus one if the place was told that it is its turn and has
-- not asked for the lock since. It is kept until the lock is granted.
--
-- The id of a JVM that says what its places need begins with a dot. The times in its tickets
-- are multiples of eight, plus the need: how often the moment is doubled for which a free
-- lock is kept for the place, as one that is far away takes longer to ask for it.

local function isReader(place)
  return string.sub(place, -5) == ':read'
end

local function needOf(place, ticket)
  return string.byte(place) == 46 and math.floor(ticket / 2) % 8 or 0
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
-- back, or leaves it where it stands: also one that wants to share what it wanted alone.
-- One that was told and asks too late needs more than it said.
local function enqueue(place)
  local ticket = call('ZSCORE', queue, place)
  if not ticket and (place == jvm or isReader(place)) then
    local other = (place == jvm) and jvm .. ':read' or jvm
    ticket = call('ZSCORE', queue, other)
    call('ZREM', queue, other)
  end
  local more = tonumber(need)
  if ticket then
    more = math.min(6, math.max(more, needOf(place, ticket) + ticket % 2))
  else
    local now = call('TIME')
    local micros = (now[1] - 1704067200) * 1000000 + now[2]
    local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
    ticket = math.max(2 * micros, (last[2] or 0) + 16)
  end
  setTicket(place, ticket - ticket % 16 + 2 * more)
  if call('PTTL', queue) < tonumber(patience) then
    call('PEXPIRE', queue, patience)
  end
end
