--! Previous: sha1:19fac3889114a2504fb5b40cdbad146e32ce5c25
--! Hash: sha1:5a8b3a8c084c49b1799db492b8e1c8301e5f1ca2
--! Message: audit history

-- The history: each change of a tenant's row, when, by whom, and what it changed. It has no secret, and nobody rewrites it.
--
-- audit.record gives a table the triggers that write it, with the rights of graph_helper. The policies are all that can ever happen to an
-- entry: it is inserted, and it loses its values when the person is deleted whom it is about.
--
-- Nothing is hashed while entries are written. An entry has a random salt, and its values are hashed along with it: the commitment.
-- When a person is erased, the commitment takes the place of values and salt. So the chain can still be computed, and says nothing of
-- the person. docs/auditing-access.md has the form of what is hashed.

create function audit.retention() returns interval
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select interval '400 days' $$;
comment on function audit.retention() is 'How long changes are kept. A migration that replaces it changes that; nobody else can.';
grant execute on function audit.retention() to graph_auditor, graph_admin;

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
  -- A client may choose its X-Request-Id, and so another one's: the server's own stands beside it.
  server_request_id text default nullif(left(current_setting('graph.server_request_id', true), 200), ''),
  salt uuid default gen_random_uuid(),
  commitment bytea,
  constraint changes_command_known check (command in ('insert', 'update', 'delete', 'select'))
) partition by range (occurred_at);
-- Absent on purpose: foreign keys. The history of a row outlives the row.
-- And a primary key, which would have to include the time. Each partition has its own, for the history of a row or person in
-- order: `where subject_id = … order by id`. The sequence makes ids unique among partitions.

-- What a migration adds later is made by `create index … on only audit.changes`, which builds nothing: partitions that are made from then on
-- get it, and `npm run db:migrate` builds what older ones lack.

-- The newest first, and what happened when.
create index changes_occurred_at_idx on audit.changes (occurred_at, id);
-- What happened in an organization.
create index changes_organization_id_idx on audit.changes (organization_id, occurred_at);
-- What a person did, and what an application did. A session of psql is neither.
create index changes_user_id_idx on audit.changes (user_id, occurred_at) where user_id is not null;
create index changes_application_id_idx on audit.changes (application_id, occurred_at) where application_id is not null;
-- Entries are sealed in the order of their ids. They are written in nearly the same, so that a few pages say where each id is.
create index changes_id_idx on audit.changes using brin (id) with (pages_per_range = 32, autosummarize = true);

comment on table audit.changes is 'Every insert, update and delete of a tenant''s rows, and the reading that audit.record_reads records, in a partition for each month. Append-only.';
comment on column audit.changes.id is 'Ascending in the order of writing; a change that was rolled back leaves a gap.';
comment on column audit.changes.subject_id is 'The person whom the row belongs to, else the row''s own id; of a read the organization.';
comment on column audit.changes.relation is 'The table.';
comment on column audit.changes.row_id is 'The row''s id; of a row without one, what it is about: the unit of a granted access, the person of credentials; of a read the organization.';
comment on column audit.changes.columns is 'What was given, changed or lost. Secrets are named here and nowhere else.';
comment on column audit.changes.before is E'@personalData\nThe values of these columns before: of an update or delete. Null once the person is deleted whom the row belongs to.';
comment on column audit.changes.after is
  E'@personalData\nThe values of these columns after: of an insert or update. Null once the person is deleted whom the row belongs to. Of a read the share of reads that are recorded.';
comment on column audit.changes.role is 'The database role that was set, else the login: `graph_app` for a token of scope `app`.';
comment on column audit.changes.login is 'Who had logged in: the server''s authenticator, or somebody with psql.';
comment on column audit.changes.application_id is 'The application of the token; null without one, as are the person, the grant and the request.';
comment on column audit.changes.grant_id is 'The grant of the token, in oauth.grants while it lives.';
comment on column audit.changes.request_id is 'The X-Request-Id of the answer and of the log; the client may have chosen it.';
comment on column audit.changes.server_request_id is 'The same if the client sent none; else `serverRequestId` of the log''s line. No client can choose it.';
comment on column audit.changes.salt is 'Random. Hashed along with the values, so that nobody can guess them from the hash. Null once these are erased.';
comment on column audit.changes.commitment is 'The hash of the values and their salt once these are erased: SHA-256 of salt, before and after, each on a line of its own; else null.';

alter table audit.changes enable row level security, force row level security;
create policy select_graph_admin on audit.changes for select to graph_admin using (true);
comment on policy select_graph_admin on audit.changes is 'Administration reads the history, and cannot rewrite it.';
create policy select_graph_auditor on audit.changes for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.changes is 'An auditor reads the history of every organization.';
create policy select_graph_helper on audit.changes for select to graph_helper using (true);
comment on policy select_graph_helper on audit.changes is 'audit.erase_person finds what it erases.';
create policy insert_graph_helper on audit.changes for insert to graph_helper with check (true);
comment on policy insert_graph_helper on audit.changes is 'The triggers of the recorded tables add to the history.';
create policy update_graph_helper on audit.changes for update to graph_helper
  using (true) with check (before is null and after is null);
comment on policy update_graph_helper on audit.changes is 'audit.erase_person takes values away; it can write none.';
grant select on audit.changes to graph_auditor, graph_admin;
grant select (organization_id, subject_id, before, after, salt), update (before, after, salt, commitment) on audit.changes to graph_helper;
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
  on audit.changes to graph_helper;
-- Absent on purpose: any right to delete, since old entries are dropped with their partition. And any right of a request: a person would learn
-- who asks about them.

-- Generated columns are looked up when rows are written, since any may be added later. A type that is not PostgreSQL's own may contain JSON, whose own
-- nulls stay.
create function audit.recorded_values(value record, relation oid) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    return (
      select jsonb_object_agg(e.key, e.value)
      from jsonb_each(app_hidden.row_values(recorded_values.value)) as e
      where e.value <> 'null'
        and e.key <> all (array(select a.attname::text from pg_attribute a where a.attrelid = relation and a.attnum > 0 and a.attgenerated <> '')));
  end
  $$;
comment on function audit.recorded_values(record, oid) is 'What the history keeps of a row: neither what is null nor what is generated.';
grant execute on function audit.recorded_values(record, oid) to graph_helper;

-- Inserts and deletes come by the thousand when something is provisioned or purged: one statement records all of them. Most tables have no type that
-- may contain JSON: of these PostgreSQL's own function makes the same value in less time.
-- Its settings are for the texts of values in JSON. Those of a session may cut numbers, or write a range of dates in another order.
create function audit.record_rows() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set quote_all_identifiers = off set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex'
  set extra_float_digits = 1
  as $$
  declare
    subject text = tg_argv[0];
    named text = tg_argv[1];
    secrets text[] = tg_argv[2];
    -- The generated columns; '' stands for a type that may contain JSON.
    special text[] = array(
      select case when a.is_own then a.attname::text else '' end
      from (
        select
          attname, attgenerated <> '' as is_generated,
          atttypid < 16384 and atttypid not in ('json'::regtype, 'json[]'::regtype, 'jsonb'::regtype, 'jsonb[]'::regtype) as is_own
        from pg_attribute where attrelid = tg_relid and attnum > 0) as a
      where a.is_generated or not a.is_own);
    is_plain boolean = '' <> all (special);
    derived text[] = tg_argv[3]::text[] || special;
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
    role text = coalesce(nullif(current_setting('role'), 'none'), session_user);
    application_id uuid = nullif(current_setting('graph.application_id', true), '');
    user_id uuid = nullif(current_setting('graph.user_id', true), '');
    grant_id uuid = nullif(current_setting('graph.grant_id', true), '');
    request_id text = nullif(left(current_setting('graph.request_id', true), 200), '');
  begin
    -- A partition is recorded by its parent's name.
    if pg_partition_root(tg_relid) is not null then
      if not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgrelid = tg_relid and t.tgname = 'audit_row' and c.relkind = 'p') then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
    end if;
    -- Runs as graph_helper because nobody may write the history by hand. `offset 0` makes each value once, not for each mention.
    if tg_op = 'INSERT' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, after, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'insert', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (
        select case when is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r, tg_relid) end - derived as value
        from inserted r
        offset 0
      ) as rows;
    else
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, role, login, application_id, user_id, grant_id, request_id)
      select
        coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
        'delete', array(select jsonb_object_keys(value)), value - secrets, role, session_user, application_id, user_id, grant_id, request_id
      from (
        select case when is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r, tg_relid) end - derived as value
        from deleted r
        offset 0
      ) as rows;
    end if;
    return null;
  end
  $$;
comment on function audit.record_rows() is 'Records the rows that a statement has inserted or deleted.';

-- Rows of a partitioned table, which may move to another partition. They are paired by their place, as feed.record_updates does it.
create function audit.record_updates() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set quote_all_identifiers = off set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex'
  set extra_float_digits = 1
  as $$
  declare
    subject text = tg_argv[0];
    named text = tg_argv[1];
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3]::text[] || array(
      select a.attname::text from pg_attribute a where a.attrelid = tg_relid and a.attnum > 0 and a.attgenerated <> '');
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
    relation text = (
      select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
  begin
    if not exists (select from pg_trigger t where t.tgrelid = tg_relid and t.tgname = 'audit_row') then
      return null;
    end if;
    -- Runs as graph_helper because nobody may write the history by hand.
    insert into audit.changes (
      organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
    select
      coalesce(value ->> 'organization_id', value ->> 'id')::uuid, coalesce(value ->> subject, value ->> named)::uuid, relation, (value ->> named)::uuid,
      case when is_paired then 'update' when is_new then 'insert' else 'delete' end, columns,
      case when is_paired or not is_new then
        (select coalesce(jsonb_object_agg(key, coalesce(old_value, value) -> key), '{}') from unnest(columns) as key where key <> all (secrets)) end,
      case when is_new then
        (select coalesce(jsonb_object_agg(key, value -> key), '{}') from unnest(columns) as key where key <> all (secrets)) end,
      coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
      nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
      nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), '')
    from (
      select
        place, is_new, old_value, value,
        array(
          select key from jsonb_each(value) as e (key, now)
          where coalesce(old_value -> key, 'null') is distinct from now and key <> all (derived) order by key) as columns
      from (
        select
          place, is_new, lag(rows.value) over (partition by place order by is_new) as old_value, rows.value
        from (
          select row_number() over () as place, false as is_new, app_hidden.row_values(b) as value from before b
          union all
          select row_number() over () + case when is_paired then 0 else (select count(*) from before) end, true, app_hidden.row_values(a) from after a
        ) as rows
      ) as pairs
      where is_new or not is_paired
      offset 0
    ) as changed
    where columns <> '{}'
    order by place;
    return null;
  end
  $$;
comment on function audit.record_updates() is 'Records the rows of a partitioned table that a statement has changed, those that it moved included.';

-- Row by row, since only so an old row and its new one are known to belong together.

create function audit.record_update() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set quote_all_identifiers = off set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex'
  set extra_float_digits = 1
  as $$
  declare
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3];
    old_value jsonb;
    new_value jsonb;
    written jsonb;
    changed text[];
    relation text = format('%I.%I', tg_table_schema, tg_table_name);
  begin
    if pg_partition_root(tg_relid) is not null then
      -- Recorded before it became a partition.
      if tg_name <> 'audit_row' then
        return null;
      end if;
      relation = (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = pg_partition_root(tg_relid));
    end if;
    begin
      old_value = to_jsonb(old);
      new_value = to_jsonb(new);
    exception when data_exception or program_limit_exceeded then
      old_value = app_hidden.row_values(old);
      new_value = app_hidden.row_values(new);
    end;
    written = coalesce(new_value, old_value);
    changed = array(
      select key
      from jsonb_each(written) as e (key, value)
      where case tg_op when 'UPDATE' then old_value -> key is distinct from value else value <> 'null' end and key <> all (derived)
        and (select a.attgenerated from pg_attribute a where a.attrelid = tg_relid and a.attname = key::name) = ''
      order by key);
    -- Runs as graph_helper because nobody may write the history by hand.
    if changed <> '{}' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
      values (
        coalesce(written ->> 'organization_id', written ->> 'id')::uuid, coalesce(written ->> tg_argv[0], written ->> tg_argv[1])::uuid,
        relation, (written ->> tg_argv[1])::uuid, lower(tg_op), changed,
        case when tg_op <> 'INSERT' then
          (select coalesce(jsonb_object_agg(key, old_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)) end,
        case when tg_op <> 'DELETE' then
          (select coalesce(jsonb_object_agg(key, new_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)) end,
        coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
        nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
        nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    end if;
    return null;
  end
  $$;
comment on function audit.record_update() is
  'Records the columns of a row that an update has changed; an update that changes nothing leaves no trace. Of a partition that was named also a row that was inserted or deleted.';

-- The fact stays, the person goes: that there was a row, when and by whom it was changed, but not what it said.
create function audit.erase_person() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  begin
    -- Runs as graph_helper because nobody may change the history by hand.
    update audit.changes
    set before = null, after = null, salt = null, commitment = sha256(convert_to(concat(salt, e'\n', before, e'\n', after), 'UTF8'))
    where subject_id = old.id and organization_id = old.organization_id and (before is not null or after is not null);
    return null;
  end
  $$;
comment on function audit.erase_person() is 'Takes all values out of the history of a person who was deleted, and leaves their commitments.';

-- Deferred: what is deleted along with a person is recorded before.
create constraint trigger audit_erase after delete on app_public.users deferrable initially deferred
  for each row execute function audit.erase_person();

create function audit.record(
  relation regclass, subject_id name default null, row_id name default null, secrets name[] default null, derived name[] default null)
  returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  as $$
  declare
    -- A partition is recorded with its parent.
    root regclass = coalesce(pg_partition_root(relation), relation);
    is_partitioned boolean = exists (select from pg_class where oid = root and relkind = 'p');
    -- As it is recorded already, the condition of the trigger included.
    known text[];
    condition text;
    subject_column name;
    row_column name;
    secret_columns name[];
    derived_columns name[];
    arguments text;
    missing text;
    parent regclass;
  begin
    select string_to_array(encode(t.tgargs, 'escape'), '\000'), (regexp_match(pg_get_triggerdef(t.oid), ' WHEN (\(.*\)) EXECUTE '))[1] into known, condition
    from pg_trigger t
    where t.tgrelid = root and t.tgfoid = 'audit.record_update'::regproc and t.tgparentid = 0;
    subject_column = coalesce(record.subject_id, known[1], 'id');
    row_column = coalesce(record.row_id, known[2], 'id');
    secret_columns = coalesce(record.secrets, known[3]::name[], '{}');
    derived_columns = coalesce(record.derived, known[4]::name[], '{}');
    arguments = format('%L, %L, %L, %L', subject_column, row_column, secret_columns, derived_columns);
    missing = (
      select string_agg(wanted, ', ')
      from unnest(array[subject_column, row_column] || record.secrets || record.derived) as wanted
      where wanted not in (select attname from pg_attribute where attrelid = root and attnum > 0 and not attisdropped));
    if missing is not null then
      raise undefined_column using message = format('%s has no column %s', root, missing);
    end if;
    foreach parent in array array(select root union all select t.relid from pg_partition_tree(root) t where not t.isleaf and t.relid <> root) loop
      execute format(
        'create or replace trigger audit_insert after insert on %s referencing new table as inserted
           for each statement execute function audit.record_rows(%s)', parent, arguments);
      execute format(
        'create or replace trigger audit_delete after delete on %s referencing old table as deleted
           for each statement execute function audit.record_rows(%s)', parent, arguments);
      continue when not is_partitioned;
      execute format(
        'create or replace trigger audit_update after update on %s referencing old table as before new table as after
           for each statement execute function audit.record_updates(%s)', parent, arguments);
      execute format(
        'create or replace trigger audit_begin before insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'audit ' || root);
      execute format(
        'create or replace trigger audit_end after insert or update or delete on %s for each statement execute function app_hidden.note_parent(%L)',
        parent, 'audit ' || root);
    end loop;
    if is_partitioned then
      execute format(
        'create or replace trigger audit_row after insert or update or delete on %s for each row
           when (coalesce((nullif(current_setting(''recording.parents'', true), '''')::jsonb ->> (%L || pg_trigger_depth()))::int, 0) = 0)
           execute function audit.record_update(%s)', root, 'audit ' || root || ' ', arguments);
    else
      -- Rows are compared as they are kept: not every type has an equality.
      execute format(
        'create or replace trigger audit_update after update on %s
           for each row when %s execute function audit.record_update(%s)', root, coalesce(condition, '(old.* *<> new.*)'), arguments);
    end if;
  end
  $$;
comment on function audit.record(regclass, name, name, name[], name[]) is
  'Begins to record what changes in a table; of a partition that is its parent. Again: what is not given stays. `subject_id` is the column of the person whom a row belongs to, `row_id` the one that names the row; '
  'of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';
grant create on schema audit to graph_helper;
alter function audit.record_rows() owner to graph_helper;
alter function audit.record_update() owner to graph_helper;
alter function audit.record_updates() owner to graph_helper;
alter function audit.erase_person() owner to graph_helper;
revoke create on schema audit from graph_helper;
