-- Returns a new fencing base by a hybrid clock: larger than the last base, and than all bases
-- before the data was lost.
--
-- A base must stay below 2^51, which the clock reaches in 2095. With a clock that is further
-- ahead, bases count from 2^51 - 2^40 on, and the last one never expires, because the clock
-- cannot replace it. Numbers are doubles, exact up to 2^53. Redis writes a number argument in
-- full; tostring() would round it.
local function mint(fence, retention)
  local call = redis.call
  local now = call('TIME')
  local base = (now[1] - 1704067200) * 1000000 + now[2] -- since 2024, to stay small
  local last = tonumber(call('SET', fence, base, 'PX', retention, 'GET') or 0)
  if base > 2250700302057472 then
    base = math.max(last + 1, 2250700302057472)
    call('SET', fence, base)
  elseif last >= base then
    base = last + 1
    call('SET', fence, base, 'PX', retention)
  end
  return base
end
