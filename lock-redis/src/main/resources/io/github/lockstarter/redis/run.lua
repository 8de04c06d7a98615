-- Returns the random id of this run of the server, and for how many seconds it has lasted,
-- which is negative if the clock was set back.
local function thisRun()
  local info = redis.call('INFO', 'server')
  return string.match(info, 'run_id:(%x+)'), tonumber(string.match(info, 'uptime_in_seconds:(%-?%d+)'))
end
