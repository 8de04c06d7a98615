-- Describes the run of this server.
--
-- KEYS  1 beginning of all keys, as a subject of error messages
-- Returns {id of this run of the server, its length in seconds}

-- Uses run.lua

return {thisRun()}
