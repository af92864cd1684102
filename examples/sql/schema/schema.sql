-- A small shop, for PostgreSQL.

create table users (
  id         bigint generated always as identity primary key,
  email      text not null unique,
  name       text not null,
  tags       text[] not null default '{}',
  settings   jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table products (
  id    uuid primary key,
  name  text not null,
  price numeric(12, 2) not null,
  stock integer not null default 0
);

create table orders (
  id        bigint generated always as identity primary key,
  user_id   bigint not null references users,
  status    text not null default 'open',
  placed_at timestamptz not null default now()
);

create table order_lines (
  order_id   bigint not null references orders,
  product_id uuid not null references products,
  quantity   integer not null,
  primary key (order_id, product_id)
);
