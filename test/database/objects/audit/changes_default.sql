-- A partition of audit.changes: DEFAULT.
create table audit.changes_default (
  id bigint generated always as identity not null,
  occurred_at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  subject_id uuid not null,
  relation text not null,
  row_id text not null,
  command text not null,
  columns text[] not null,
  before jsonb,
  after jsonb,
  role text not null,
  login text not null,
  application_id uuid,
  user_id uuid,
  grant_id uuid,
  request_id text,
  server_request_id text default NULLIF("left"(current_setting('graph.server_request_id'::text, true), 200), ''::text),
  salt uuid default gen_random_uuid(),
  commitment bytea,
  constraint changes_default_pkey PRIMARY KEY (subject_id, organization_id, id)
);

alter table audit.changes_default enable row level security, force row level security;

CREATE INDEX changes_default_application_id_occurred_at_idx ON audit.changes_default USING btree (application_id, occurred_at) WHERE application_id IS NOT NULL;

CREATE INDEX changes_default_id_idx ON audit.changes_default USING brin (id) WITH (pages_per_range='32', autosummarize='true');

CREATE INDEX changes_default_occurred_at_id_idx ON audit.changes_default USING btree (occurred_at, id);

CREATE INDEX changes_default_organization_id_occurred_at_idx ON audit.changes_default USING btree (organization_id, occurred_at);

CREATE INDEX changes_default_user_id_occurred_at_idx ON audit.changes_default USING btree (user_id, occurred_at) WHERE user_id IS NOT NULL;

create policy select_graph_admin on audit.changes_default for select to graph_admin
  using (true);
comment on policy select_graph_admin on audit.changes_default is 'A backup by the owner reads each partition; all others read the whole table.';
