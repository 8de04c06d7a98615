-- Spring Integration
create table INT_LOCK (
	LOCK_KEY char(36) not null,
	REGION varchar(100) not null,
	CLIENT_ID char(36),
	CREATED_DATE timestamp(6) not null default current_timestamp(6),
	EXPIRED_AFTER timestamp(6) not null default current_timestamp(6),
	constraint INT_LOCK_PK primary key (LOCK_KEY, REGION)
);

-- ShedLock
create table shedlock (
	name varchar(64) not null primary key,
	lock_until timestamp(6) not null default current_timestamp(6),
	locked_at timestamp(6) not null default current_timestamp(6),
	locked_by varchar(255) not null
);

-- select ... for update
create table guard (
	name varchar(64) not null primary key
);
