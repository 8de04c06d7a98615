-- The collation tells upper case from lower case, as locks require
create table if not exists distributed_lock_fence (
	lock_key varchar(255) not null primary key,
	token bigint not null,
	claimed_at bigint not null
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;
