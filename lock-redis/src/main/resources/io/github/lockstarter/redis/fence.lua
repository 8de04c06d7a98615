-- Included where a lock was granted. Sets 'base' to a new fencing base.
-- Needs: call, fence, retention
--
-- A hybrid clock: larger than the last base, and than any before the data was lost.
-- Numbers are doubles, exact up to 2^53, but tostring() would round them. A token has room
-- for a base below 2^51, which the clock reaches in 2095: a clock that is further ahead
-- counts from 2^51 - 2^40 on, and the last base is not forgotten, as that one cannot tell.
local now = call('TIME')
base = (now[1] - 1704067200) * 1000000 + now[2] -- since 2024, to stay small
local last = tonumber(call('SET', fence, string.format('%.0f', base), 'PX', retention, 'GET') or 0)
if base > 2250700302057472 then
  base = math.max(last + 1, 2250700302057472)
  call('SET', fence, string.format('%.0f', base))
elseif last >= base then
  base = last + 1
  call('SET', fence, string.format('%.0f', base), 'PX', retention)
end
