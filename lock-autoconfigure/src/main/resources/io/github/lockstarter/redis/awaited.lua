-- Tells whether JVMs wait for a lock.
--
-- KEYS  1 queue of the JVMs that wait for it
-- Returns how many

return redis.call('ZCARD', KEYS[1])
