create table feed.changes (
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
  constraint changes_pkey PRIMARY KEY (organization_id, horizon, id, at)
)
partition by RANGE (at);
comment on table feed.changes is 'The change feed, in a partition for each day. Kept for feed.retention.';
comment on column feed.changes.id is 'Ascending in the order of writing.';
comment on column feed.changes.origin is 'The cluster and the table that it was written in: after pg_restore the horizons of what was restored mean nothing.';
comment on column feed.changes.horizon is 'The id of its transaction, or the greatest horizon of what was committed before in the organization, if that is greater.';
comment on column feed.changes.relation is 'The table or view that the row is in the graph by.';
comment on column feed.changes.type is 'Of a table whose rows have several types, the type of the row.';
comment on column feed.changes.key is 'The primary key without the organization, each value as JSON has it, without quotes.';
comment on column feed.changes.operation is 'CREATE, UPDATE or DELETE.';
comment on column feed.changes.columns is 'Of an update the columns that it changed.';
comment on column feed.changes.related is 'The columns by which the row refers to others, as they were then, each value as in the key; null without one.';

alter table feed.changes enable row level security, force row level security;

create policy insert_graph_helper on feed.changes for insert to graph_helper
  with check (true);
comment on policy insert_graph_helper on feed.changes is 'The triggers of followed tables add to the feed.';

create policy select_graph_admin on feed.changes for select to graph_admin
  using (true);
comment on policy select_graph_admin on feed.changes is 'Administration reads the feed, and cannot rewrite it.';

create policy select_graph_app on feed.changes for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on feed.changes is 'An application follows its own organization.';

create policy select_graph_helper on feed.changes for select to graph_helper
  using (true);
comment on policy select_graph_helper on feed.changes is 'What is added comes after what is there, and the service learns who has new changes.';

create policy select_graph_worker on feed.changes for select to graph_worker
  using (true);
comment on policy select_graph_worker on feed.changes is 'The worker looks for what is new in every organization.';

grant select on feed.changes to graph_admin;
grant select on feed.changes to graph_app;
grant insert (origin, horizon, organization_id, relation, type, key, operation, columns, related), select (id, origin, horizon, at, organization_id, relation) on feed.changes to graph_helper;
grant select on feed.changes to graph_worker;
