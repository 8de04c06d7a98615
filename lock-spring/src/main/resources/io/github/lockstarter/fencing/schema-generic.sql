-- Adapt the type bigint to a database that does not have it.
-- The column of characters must compare exactly: case, accents and width
create table distributed_lock_fence (
	lock_key varchar(255) not null primary key,
	token bigint not null,
	claimed_at bigint not null
);
