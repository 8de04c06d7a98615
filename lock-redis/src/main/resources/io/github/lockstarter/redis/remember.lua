-- Remembers the fencing base of a lock that is held for its full time again, once half of it has
-- passed, so that most renewals write nothing. One that never expires stays as it is.
local function remember(fence, retention)
  local left = redis.call('PTTL', fence)
  if left >= 0 and left < tonumber(retention) / 2 then
    redis.call('PEXPIRE', fence, retention)
  end
end
