create table if not exists distributed_lock_fence (
	lock_key varchar(255) not null primary key,
	token bigint not null,
	claimed_at bigint not null
);
