-- Spring Integration
create table INT_LOCK (
	lock_key char(36) not null,
	region varchar(100) not null,
	client_id char(36),
	created_date timestamp(6) not null default current_timestamp(6),
	expired_after timestamp(6) not null default current_timestamp(6),
	primary key (lock_key, region)
);

-- ShedLock
create table shedlock (
	name varchar(64) not null primary key,
	lock_until timestamp(6) not null default current_timestamp(6),
	locked_at timestamp(6) not null default current_timestamp(6),
	locked_by varchar(255) not null
);
