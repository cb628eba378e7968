--! Previous: sha1:c1993d48a19c67b88747ce7801060387fb437c67
--! Hash: sha1:164387cc2c43307206dd6fefe66afdb00703fc9f
--! Message: audit changes

-- Who did what: each change of a tenant's row, when, by whom, and what it changed. No secret is in it, and nobody rewrites it.
--
-- A row is written by the triggers that audit.record gives a table, with the rights of graph_helper. Its policies are all that
-- can ever happen to it: it is inserted, it loses its values when the person is deleted whom it is about, it goes when it is old.

do $$
declare
  recorded regclass;
begin
  for recorded in select distinct tgrelid from pg_trigger where tgname like 'audit\_%' and not tgisinternal loop
    execute format('drop trigger if exists audit_insert on %s', recorded);
    execute format('drop trigger if exists audit_update on %s', recorded);
    execute format('drop trigger if exists audit_delete on %s', recorded);
    execute format('drop trigger if exists audit_erase on %s', recorded);
  end loop;
end
$$;
drop function if exists audit.record(regclass, name, name, name[], name[]);
drop function if exists audit.erase_person();
drop function if exists audit.record_update();
drop function if exists audit.record_rows();
drop function if exists oauth.purge_changes(int);
drop table if exists audit.changes;
drop function if exists audit.retention();

create function audit.retention() returns interval
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select interval '400 days' $$;
comment on function audit.retention() is 'How long changes are kept. A migration that replaces it changes that; nobody else can.';

create table audit.changes (
  id bigint not null generated always as identity,
  occurred_at timestamptz not null default clock_timestamp(),
  organization_id uuid not null,
  subject_id uuid not null,
  relation text not null,
  row_id uuid not null,
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
  -- The history of a row and the history of a person, in order: `where subject_id = … order by id`.
  constraint changes_pkey primary key (subject_id, organization_id, id),
  constraint changes_command_known check (command in ('insert', 'update', 'delete'))
);
-- What happened when. Rows come in the order of time, so that a few pages say where each hour is, and an insert pays nothing for it.
create index changes_occurred_at_idx on audit.changes using brin (occurred_at) with (pages_per_range = 32, autosummarize = true);
-- Absent on purpose: foreign keys. The history of a row outlives the row.
comment on table audit.changes is 'Every insert, update and delete of a tenant''s rows. Append-only.';
comment on column audit.changes.id is 'Ascending in the order of writing; a change that was rolled back leaves a gap.';
comment on column audit.changes.subject_id is 'The person whom the row belongs to, else the row''s own id.';
comment on column audit.changes.relation is 'The table.';
comment on column audit.changes.row_id is 'The row''s id; of a row without one, what it is about: the unit of a granted access, the person of credentials.';
comment on column audit.changes.columns is 'What was given, changed or lost. Secrets are named here and nowhere else.';
comment on column audit.changes.before is 'The values of these columns before: of an update or delete. Null once the person is deleted whom the row belongs to.';
comment on column audit.changes.after is 'The values of these columns after: of an insert or update. Null once the person is deleted whom the row belongs to.';
comment on column audit.changes.role is 'The database role that was set, else the login: `graph_app` for a token of scope `app`.';
comment on column audit.changes.login is 'Who had logged in: the server''s authenticator, or somebody with psql.';
comment on column audit.changes.application_id is 'The application of the token; null without one, as are the person, the grant and the request.';
comment on column audit.changes.grant_id is 'The grant of the token, in oauth.grants while it lives.';
comment on column audit.changes.request_id is 'The X-Request-Id of the answer and of the log.';

alter table audit.changes enable row level security, force row level security;
create policy select_graph_admin on audit.changes for select to graph_admin using (true);
comment on policy select_graph_admin on audit.changes is 'Administration reads the history, and cannot rewrite it.';
create policy select_graph_auditor on audit.changes for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.changes is 'An auditor reads the history of every organization.';
create policy select_graph_helper on audit.changes for select to graph_helper using (true);
comment on policy select_graph_helper on audit.changes is 'audit.erase_person and oauth.purge_changes find what they erase and delete.';
create policy insert_graph_helper on audit.changes for insert to graph_helper with check (true);
comment on policy insert_graph_helper on audit.changes is 'The triggers of the recorded tables add to the history.';
create policy update_graph_helper on audit.changes for update to graph_helper
  using (true) with check (before is null and after is null);
comment on policy update_graph_helper on audit.changes is 'audit.erase_person takes values away; it can write none.';
create policy delete_graph_helper on audit.changes for delete to graph_helper
  using (occurred_at <= statement_timestamp() - (select audit.retention()));
comment on policy delete_graph_helper on audit.changes is 'oauth.purge_changes deletes what is older than audit.retention.';
grant select on audit.changes to graph_auditor, graph_admin;
grant select (id, organization_id, subject_id, occurred_at, before, after), update (before, after), delete on audit.changes to graph_helper;
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
  on audit.changes to graph_helper;
grant execute on function audit.retention() to graph_auditor, graph_admin, graph_helper;
-- Absent on purpose: any right of a request. Whoever is asked about would learn who asks.

-- Inserts and deletes come by the thousand when something is provisioned or purged: one statement records all of them.

create function audit.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    subject text = tg_argv[0];
    named text = tg_argv[1];
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3];
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
    role text = coalesce(nullif(current_setting('role'), 'none'), session_user);
    application_id uuid = nullif(current_setting('graph.application_id', true), '');
    user_id uuid = nullif(current_setting('graph.user_id', true), '');
    grant_id uuid = nullif(current_setting('graph.grant_id', true), '');
    request_id text = nullif(left(current_setting('graph.request_id', true), 200), '');
  begin
    -- Runs as graph_helper because nobody may write the history by hand. `offset 0` makes each value once, not for each mention.
    if tg_op = 'INSERT' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, after, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'insert', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (select jsonb_strip_nulls(to_jsonb(r) - derived) as value from inserted r offset 0) as rows;
    else
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'delete', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (select jsonb_strip_nulls(to_jsonb(r) - derived) as value from deleted r offset 0) as rows;
    end if;
    return null;
  end
  $$;
comment on function audit.record_rows() is 'Records the rows that a statement has inserted or deleted.';

-- Row by row, since only so an old row and its new one are known to belong together.

create function audit.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3];
    old_value jsonb = to_jsonb(old) - derived;
    new_value jsonb = to_jsonb(new) - derived;
    changed text[] = array(
      select key from jsonb_object_keys(new_value) as key where old_value -> key is distinct from new_value -> key order by key);
  begin
    -- Runs as graph_helper because nobody may write the history by hand.
    if changed <> '{}' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
      values (
        coalesce(new_value ->> 'organization_id', new_value ->> 'id')::uuid, coalesce(new_value ->> tg_argv[0], new_value ->> tg_argv[1])::uuid,
        format('%I.%I', tg_table_schema, tg_table_name), (new_value ->> tg_argv[1])::uuid, 'update', changed,
        (select coalesce(jsonb_object_agg(key, old_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)),
        (select coalesce(jsonb_object_agg(key, new_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)),
        coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
        nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
        nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    end if;
    return null;
  end
  $$;
comment on function audit.record_update() is 'Records the columns of a row that an update has changed; an update that changes nothing leaves no trace.';

-- The fact stays, the person goes: that there was a row, when and by whom it was changed, but not what it said.

create function audit.erase_person() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because nobody may change the history by hand.
    update audit.changes set before = null, after = null
    where subject_id = old.id and organization_id = old.organization_id and (before is not null or after is not null);
    return null;
  end
  $$;
comment on function audit.erase_person() is 'Takes all values out of the history of a person who was deleted.';

create function audit.record(relation regclass, subject_id name default 'id', row_id name default 'id', secrets name[] default '{}', derived name[] default '{}')
  returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    all_derived name[] = derived || array(select attname from pg_attribute where attrelid = relation and attgenerated <> '');
    arguments text = format('%L, %L, %L, %L', subject_id, row_id, secrets, all_derived);
    missing text = (
      select string_agg(wanted, ', ')
      from unnest(array[subject_id, row_id] || secrets || derived) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = relation and attnum > 0 and not attisdropped));
  begin
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', relation, missing);
    end if;
    execute format(
      'create or replace trigger audit_insert after insert on %s referencing new table as inserted
         for each statement execute function audit.record_rows(%s)', relation, arguments);
    execute format(
      'create or replace trigger audit_update after update on %s
         for each row when (old.* is distinct from new.*) execute function audit.record_update(%s)', relation, arguments);
    execute format(
      'create or replace trigger audit_delete after delete on %s referencing old table as deleted
         for each statement execute function audit.record_rows(%s)', relation, arguments);
  end
  $$;
comment on function audit.record(regclass, name, name, name[], name[]) is
  'Begins to record what changes in a table. `subject_id` is the column of the person whom a row belongs to, `row_id` the one that names the row; '
  'of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';

grant usage, create on schema audit to graph_helper;
alter function audit.record_rows() owner to graph_helper;
alter function audit.record_update() owner to graph_helper;
alter function audit.erase_person() owner to graph_helper;
revoke create on schema audit from graph_helper;

select audit.record('app_hidden.organizations');
select audit.record('oauth.applications');
select audit.record('oauth.application_secrets', subject_id => 'application_id', row_id => 'application_id', secrets => '{secret_hash}');
select audit.record('app_public.users', secrets => '{external_authentication_token_ciphertext,external_authentication_token_hash}');
select audit.record('oauth.credentials', subject_id => 'user_id', row_id => 'user_id', secrets => '{password_hash}');
select audit.record('app_public.units', derived => '{ancestor_ids}');
select audit.record('app_hidden.unit_access', subject_id => 'user_id', row_id => 'unit_id');
select audit.record('app_public.cards');
select audit.record('app_public.card_assignments', subject_id => 'user_id');
select audit.record('oauth.grants', subject_id => 'user_id');
-- Deferred: what is deleted along with a person is recorded before.
create constraint trigger audit_erase after delete on app_public.users deferrable initially deferred
  for each row execute function audit.erase_person();

create function oauth.purge_changes(batch int) returns int
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    deleted int;
  begin
    -- Runs as graph_helper because the history belongs to every organization.
    delete from audit.changes c
    where (c.subject_id, c.organization_id, c.id) in (
      select old.subject_id, old.organization_id, old.id
      from audit.changes old
      where old.occurred_at <= statement_timestamp() - (select audit.retention())
      limit purge_changes.batch);
    get diagnostics deleted = row_count;
    return deleted;
  end
  $$;
comment on function oauth.purge_changes(int) is 'Deletes at most so many changes that are older than audit.retention, and says how many.';
grant create on schema oauth to graph_helper;
alter function oauth.purge_changes(int) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.purge_changes(int) to graph_oauth, graph_admin;

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'audit.record_rows()', 'nobody', 'The triggers of recorded tables call it, and nobody may write the history by hand.'),
  ('definer', 'audit.record_update()', 'nobody', 'The triggers of recorded tables call it, and nobody may write the history by hand.'),
  ('definer', 'audit.erase_person()', 'nobody', 'A trigger of app_public.users calls it, and nobody may change the history by hand.'),
  ('definer', 'oauth.purge_changes(integer)', 'graph_admin, graph_oauth', 'Deletes changes of every organization; a policy on graph_helper bounds it to old ones.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
