-- A partition of feed.changes: DEFAULT.
create table feed.changes_default (
  id bigint generated always as identity not null,
  origin bigint not null,
  horizon xid8 not null,
  at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  relation text not null,
  type text,
  key text[] not null,
  operation text not null,
  columns text[] not null,
  related jsonb,
  constraint changes_default_pkey PRIMARY KEY (organization_id, horizon, id, at)
);

alter table feed.changes_default enable row level security, force row level security;

create policy select_graph_admin on feed.changes_default for select to graph_admin
  using (true);
comment on policy select_graph_admin on feed.changes_default is 'A backup by the owner reads each partition; all others read the whole table.';
