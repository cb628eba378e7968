create table app_hidden.organization_moves (
  organization_id uuid not null,
  move_id uuid not null,
  state text not null,
  peer text not null,
  arrived_at timestamp with time zone,
  constraint organization_moves_pkey PRIMARY KEY (organization_id),
  constraint organization_moves_arrived_whole CHECK (state <> 'arrived'::text OR arrived_at IS NOT NULL),
  constraint organization_moves_peer_length CHECK (length(peer) >= 1 AND length(peer) <= 200),
  constraint organization_moves_state_known CHECK (state = ANY (ARRAY['copying'::text, 'moved'::text, 'arriving'::text, 'arrived'::text]))
);
comment on table app_hidden.organization_moves is 'Which organizations are being moved to another database, have moved there, or come from one.';
comment on column app_hidden.organization_moves.move_id is 'The same in both databases.';
comment on column app_hidden.organization_moves.state is 'Here it still works while it is `copying`, and again when it has `arrived`; it does not once it has `moved`, nor while it is `arriving`.';
comment on column app_hidden.organization_moves.peer is 'The other database: its system identifier and oid.';
comment on column app_hidden.organization_moves.arrived_at is 'When it came from another database: the feed has nothing of it from before.';

alter table app_hidden.organization_moves enable row level security, force row level security;

create policy all_graph_admin on app_hidden.organization_moves for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.organization_moves is 'Administration moves organizations.';

create policy select_graph_helper on app_hidden.organization_moves for select to graph_helper
  using (true);
comment on policy select_graph_helper on app_hidden.organization_moves is 'app_hidden.is_served asks for every role that works for an organization.';

create policy select_graph_purger on app_hidden.organization_moves for select to graph_purger
  using (true);
comment on policy select_graph_purger on app_hidden.organization_moves is 'The purge leaves out organizations that are being moved or have moved.';

grant delete, insert, select, update on app_hidden.organization_moves to graph_admin;
grant select on app_hidden.organization_moves to graph_helper;
grant select (organization_id, state) on app_hidden.organization_moves to graph_purger;
