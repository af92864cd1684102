create table items (
  id bigint not null primary key,
  name varchar(100),
  status varchar(10) not null,
  created timestamp with time zone,
  zip varchar(10),
  city_name varchar(50)
);
create index i on items (name);
create table others (id integer not null, note varchar(10));
