-- A shop with many tenants behind PostgREST: the token names the tenant and the person, and each row has its tenant.
-- Holes on purpose are marked `Hole:`.
create role shop_anon nologin;
create role shop_user nologin;
create role shop_authenticator login noinherit;
grant shop_anon, shop_user to shop_authenticator;

create schema shop;
grant usage on schema shop to shop_anon, shop_user;

create function shop.tenant_id() returns uuid language sql stable as $$
  select (current_setting('request.jwt.claims', true)::json ->> 'tenant_id')::uuid
$$;
create function shop.user_id() returns uuid language sql stable as $$
  select (current_setting('request.jwt.claims', true)::json ->> 'sub')::uuid
$$;

create table shop.tenants (id uuid primary key default gen_random_uuid(), name text not null, is_open boolean not null default true);
create table shop.customers (
  tenant_id uuid not null references shop.tenants,
  id uuid not null default gen_random_uuid(),
  email text not null,
  primary key (tenant_id, id)
);
create table shop.products (
  tenant_id uuid not null references shop.tenants,
  id uuid not null default gen_random_uuid(),
  title text not null,
  price numeric(10, 2) not null check (price >= 0),
  status text not null default 'draft' check (status in ('draft', 'listed')),
  primary key (tenant_id, id)
);
create table shop.orders (
  tenant_id uuid not null references shop.tenants,
  id uuid not null default gen_random_uuid(),
  customer_id uuid not null,
  placed_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, customer_id) references shop.customers
);
create table shop.order_lines (
  tenant_id uuid not null,
  order_id uuid not null,
  product_id uuid not null,
  quantity int not null check (quantity between 1 and 100),
  primary key (tenant_id, order_id, product_id),
  foreign key (tenant_id, order_id) references shop.orders on delete cascade,
  foreign key (tenant_id, product_id) references shop.products
);
create table shop.coupons (
  tenant_id uuid not null references shop.tenants,
  code text not null,
  percent int not null check (percent between 1 and 90),
  primary key (tenant_id, code)
);
create table shop.audit_log (id bigint generated always as identity primary key, tenant_id uuid, line text not null);

alter table shop.tenants enable row level security;
create policy open_shops on shop.tenants for select to shop_anon, shop_user using (is_open);
grant select on shop.tenants to shop_anon, shop_user;

alter table shop.customers enable row level security;
create policy own_customer on shop.customers for select to shop_user using (tenant_id = shop.tenant_id() and id = shop.user_id());
create policy edit_customer on shop.customers for update to shop_user
  using (tenant_id = shop.tenant_id() and id = shop.user_id()) with check (tenant_id = shop.tenant_id() and id = shop.user_id());
grant select, update on shop.customers to shop_user;

alter table shop.products enable row level security;
create policy listed on shop.products for select to shop_anon, shop_user using (status = 'listed');
grant select on shop.products to shop_anon, shop_user;

alter table shop.orders enable row level security;
create policy own_orders on shop.orders for select to shop_user using (tenant_id = shop.tenant_id() and customer_id = shop.user_id());
create policy place_order on shop.orders for insert to shop_user with check (tenant_id = shop.tenant_id() and customer_id = shop.user_id());
-- Hole: who changes an order may give it to another tenant's customer, since `with check` is more than `using`.
create policy change_order on shop.orders for update to shop_user
  using (tenant_id = shop.tenant_id() and customer_id = shop.user_id()) with check (true);
grant select, insert, update on shop.orders to shop_user;

alter table shop.order_lines enable row level security;
create policy own_lines on shop.order_lines for select to shop_user using (
  exists (select from shop.orders o where o.tenant_id = order_lines.tenant_id and o.id = order_id and o.customer_id = shop.user_id())
);
-- Hole: only the tenant is asked, so that one customer writes into another's order.
create policy add_lines on shop.order_lines for insert to shop_user with check (tenant_id = shop.tenant_id());
grant select, insert on shop.order_lines to shop_user;

-- Hole: no policy, and the right to read: everybody knows all coupons.
grant select on shop.coupons to shop_anon;

-- Hole: a function with its owner's rights trusts its argument.
create function shop.revenue(tenant uuid) returns numeric language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select sum(l.quantity * p.price) from shop.order_lines l join shop.products p on p.tenant_id = l.tenant_id and p.id = l.product_id
  where l.tenant_id = tenant
$$;
revoke execute on all functions in schema shop from public;
grant execute on all functions in schema shop to shop_anon, shop_user;

-- Hole: anybody writes a line of the log, under any tenant.
alter table shop.audit_log enable row level security;
create policy write on shop.audit_log for insert to shop_user with check (true);
grant insert on shop.audit_log to shop_user;
