create table if not exists mall_stock (
	id            varchar(36) primary key,
	product_id    bigint      not null unique,
	stock_id      bigint      not null,
	initial_count int         not null,
	count         int         not null,
	version       bigint      not null,
	fence         bigint      not null
);

create table if not exists orders (
	id         varchar(36) primary key,
	product_id bigint      not null references mall_stock (product_id),
	count      int         not null
);

create table if not exists daily_report (
	report_day date   primary key,
	orders     bigint not null,
	sold       bigint not null
);

create table if not exists sale_lock (
	product_id bigint primary key
);

create table if not exists failed_attempts (
	product_id bigint primary key,
	attempts   bigint not null
);
