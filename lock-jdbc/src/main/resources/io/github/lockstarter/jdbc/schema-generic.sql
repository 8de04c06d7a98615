-- Adapt the types bigint and clob to a database that does not have them.
-- All columns of characters must compare exactly: case, accents and width
create table distributed_lock (
	lock_key varchar(255) not null primary key,
	owner varchar(96),
	expires_at bigint not null,
	fence bigint not null,
	line clob,
	told_at bigint default 0 not null
);
