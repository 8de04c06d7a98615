-- Half-filled pages leave room for the new version of a row beside the old one
create table if not exists distributed_lock (
	lock_key varchar(255) collate "C" not null primary key,
	owner varchar(96),
	expires_at bigint not null,
	fence bigint not null,
	line text,
	told_at bigint default 0 not null
) with (fillfactor = 50);

-- The claims of fenced transactions
create table if not exists distributed_lock_fence (
	lock_key varchar(255) collate "C" not null primary key,
	token bigint not null,
	claimed_at bigint not null
) with (fillfactor = 50);
