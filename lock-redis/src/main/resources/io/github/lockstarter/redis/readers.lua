-- Functions on the readers of a lock: its shared owner tokens, a sorted set by the end of
-- their leases in milliseconds since 1970. While the lock is shared its value is 'shared',
-- so that no owner can acquire it exclusively.

-- Returns the time of the server in milliseconds since 1970.
local function millis()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Makes a lock expire with the last of its readers, and returns when; nil without readers.
local function expireWithLast(lock, readers)
  local ends = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
  if ends then
    redis.call('PEXPIREAT', lock, ends)
    redis.call('PEXPIREAT', readers, ends)
  end
  return ends
end
