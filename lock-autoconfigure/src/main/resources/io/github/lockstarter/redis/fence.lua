-- Included where a lock was granted. Sets 'base' to a new fencing base.
-- Needs: call, fence, retention
--
-- A hybrid clock: larger than the last base, and than any before the data was lost.
-- Numbers are doubles, exact up to 2^53, but tostring() would round them.
local now = call('TIME')
base = (now[1] - 1704067200) * 1000000 + now[2] -- since 2024, to stay small
local last = tonumber(call('SET', fence, string.format('%.0f', base), 'PX', retention, 'GET') or 0)
if last >= base then
  base = last + 1
  call('SET', fence, string.format('%.0f', base), 'PX', retention)
end
