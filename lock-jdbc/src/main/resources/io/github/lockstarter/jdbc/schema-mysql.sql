-- The collation tells upper case from lower case, as locks and owners require
create table if not exists distributed_lock (
	lock_key varchar(255) not null primary key,
	owner varchar(96),
	expires_at bigint not null,
	fence bigint not null,
	line mediumtext,
	told_at bigint default 0 not null
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

-- The claims of fenced transactions
create table if not exists distributed_lock_fence (
	lock_key varchar(255) not null primary key,
	token bigint not null,
	claimed_at bigint not null
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;
