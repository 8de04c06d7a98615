create table if not exists distributed_lock (
	lock_key varchar(255) not null primary key,
	owner varchar(96),
	expires_at bigint not null,
	fence bigint not null,
	line varchar,
	told_at bigint default 0 not null
);
