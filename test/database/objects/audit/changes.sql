create table audit.changes (
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
  commitment bytea
)
partition by RANGE (occurred_at);
comment on table audit.changes is 'Every insert, update and delete of a tenant''s rows, and the reading that audit.record_reads records, in a partition for each month. Append-only.';
comment on column audit.changes.id is 'Ascending in the order of writing; a change that was rolled back leaves a gap.';
comment on column audit.changes.subject_id is 'The person whom the row belongs to, else the row''s own id if it is a uuid, else the organization, as of a read.';
comment on column audit.changes.relation is 'The table.';
comment on column audit.changes.row_id is 'The row''s primary key without the organization, or the column row_id of audit.record: one value as text, several as JSON. Of a read the organization.';
comment on column audit.changes.command is 'insert, update or delete; select of a recorded read; backfill of what audit.backfill left out.';
comment on column audit.changes.columns is 'What was given, changed or lost. Secrets are named here and nowhere else.';
comment on column audit.changes.before is '@personalData
The values of these columns before: of an update or delete. Null once the person is deleted whom the row belongs to.';
comment on column audit.changes.after is '@personalData
The values of these columns after: of an insert or update. Null once the person is deleted whom the row belongs to. Of a read the share of reads that are recorded.';
comment on column audit.changes.role is 'The database role that was set, else the login: `graph_app` for a token of scope `app`.';
comment on column audit.changes.login is 'Who had logged in: the server''s authenticator, or somebody with psql.';
comment on column audit.changes.application_id is 'The application of the token; null without one, as are the person, the grant and the request.';
comment on column audit.changes.grant_id is 'The grant of the token, in oauth.grants while it lives.';
comment on column audit.changes.request_id is 'The X-Request-Id of the answer and of the log; the client may have chosen it.';
comment on column audit.changes.server_request_id is 'The same if the client sent none; else `serverRequestId` of the log''s line. No client can choose it.';
comment on column audit.changes.salt is 'Random. Hashed along with the values, so that nobody can guess them from the hash. Null once these are erased.';
comment on column audit.changes.commitment is 'The hash of the values and their salt once these are erased: SHA-256 of salt, before and after, each on a line of its own; else null.';

alter table audit.changes enable row level security, force row level security;

CREATE INDEX changes_application_id_idx ON ONLY audit.changes USING btree (application_id, occurred_at) WHERE application_id IS NOT NULL;

CREATE INDEX changes_id_idx ON ONLY audit.changes USING brin (id) WITH (pages_per_range='32', autosummarize='true');

CREATE INDEX changes_occurred_at_idx ON ONLY audit.changes USING btree (occurred_at, id);

CREATE INDEX changes_organization_id_idx ON ONLY audit.changes USING btree (organization_id, occurred_at);

CREATE INDEX changes_user_id_idx ON ONLY audit.changes USING btree (user_id, occurred_at) WHERE user_id IS NOT NULL;

create policy insert_graph_helper on audit.changes for insert to graph_helper
  with check (true);
comment on policy insert_graph_helper on audit.changes is 'The triggers of the recorded tables add to the history.';

create policy select_graph_admin on audit.changes for select to graph_admin
  using (true);
comment on policy select_graph_admin on audit.changes is 'Administration reads the history, and cannot rewrite it.';

create policy select_graph_auditor on audit.changes for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.changes is 'An auditor reads the history of every organization.';

create policy select_graph_helper on audit.changes for select to graph_helper
  using (true);
comment on policy select_graph_helper on audit.changes is 'audit.erase_person finds what it erases.';

create policy update_graph_helper on audit.changes for update to graph_helper
  using (true)
  with check (before IS NULL AND after IS NULL);
comment on policy update_graph_helper on audit.changes is 'audit.erase_person takes values away; it can write none.';

grant select on audit.changes to graph_admin;
grant select on audit.changes to graph_auditor;
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id), select (organization_id, subject_id, before, after, salt), update (before, after, salt, commitment) on audit.changes to graph_helper;
