CREATE TABLE tasks (
  id     bigint PRIMARY KEY,
  title  varchar(200) NOT NULL,
  status varchar(10) NOT NULL,
  due    date
);
