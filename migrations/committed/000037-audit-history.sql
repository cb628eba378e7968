--! Previous: sha1:ffa3b5d610d74a3025248493d3e8ccb25d4564cd
--! Hash: sha1:cab563493f087f7b97f871c57fb3437ab69365e7
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
  row_id text not null,
  command text not null,
  columns text[] not null,
  before jsonb,
  after jsonb,
  role text not null default coalesce(nullif(current_setting('role'), 'none'), session_user),
  login text not null default session_user,
  application_id uuid default nullif(current_setting('graph.application_id', true), '')::uuid,
  user_id uuid default nullif(current_setting('graph.user_id', true), '')::uuid,
  grant_id uuid default nullif(current_setting('graph.grant_id', true), '')::uuid,
  request_id text default nullif(left(current_setting('graph.request_id', true), 200), ''),
  -- A client may choose its X-Request-Id, and so another one's: the server's own stands beside it.
  server_request_id text default nullif(left(current_setting('graph.server_request_id', true), 200), ''),
  salt uuid default gen_random_uuid(),
  commitment bytea
) partition by range (occurred_at);
-- Absent on purpose: foreign keys. The history of a row outlives the row. And a check of the command, which each insert would parse anew.
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
comment on column audit.changes.command is 'insert, update or delete; select of a recorded read; backfill of what audit.backfill left out.';
comment on column audit.changes.subject_id is
  'The person whom the row belongs to, else the row''s own id if it is a uuid, else the organization, as of a read.';
comment on column audit.changes.relation is 'The table.';
comment on column audit.changes.row_id is
  'The row''s primary key without the organization, or the column row_id of audit.record: one value as text, several as JSON. '
  'Of a read the organization.';
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
-- Who did it is a default of each entry.
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role) on audit.changes to graph_helper;
-- Absent on purpose: any right to delete, since old entries are dropped with their partition. And any right of a request: a person would learn
-- who asks about them.

-- What audit.record was given is kept as the columns of a trigger that never runs, audit_columns: PostgreSQL keeps these by number. So they
-- hold when a column is renamed, and in a dump. The first argument of each trigger has a letter for each of them: secret, derived, person,
-- key, or both of the latter. `drop column … cascade` takes the trigger away. Then each write fails: no secret is recorded by mistake.
create type audit.recorded_columns as (secrets text[], derived text[], subject text, key text[], is_plain boolean);
comment on type audit.recorded_columns is 'What the history must know of the columns of a table, by their present names.';
comment on column audit.recorded_columns.derived is 'Those that are not recorded: they follow from others, or are generated.';
comment on column audit.recorded_columns.is_plain is
  'Whether no type of a column may contain JSON, whose own nulls stay, as JSON itself and each type that is not PostgreSQL''s own may.';

create function audit.shape_of(relation oid) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    return (
      select hashtextextended(
        (array_agg(concat(a.attname, ' ', a.attgenerated, case when a.atttypid < 16384 then a.atttypid end) order by a.attnum)
          || (select i.indkey::text from pg_index i where i.indrelid = relation and i.indisprimary))::text,
        0)
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
  end
  $$;
comment on function audit.shape_of(oid) is 'A hash of the columns of a table, their types and its key.';

-- All is known when the triggers are made, and is their third argument. It is looked up anew, which takes longer, when the second one is
-- not the present shape of the table: after a column was added or renamed, until audit.record is called again.
create function audit.columns_of(relation oid, kinds text, shape text, known text) returns audit.recorded_columns
  language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  as $$
  declare
    found audit.recorded_columns;
    named int;
    -- Its snapshot may be of before a column was renamed.
    is_old boolean = current_setting('transaction_isolation') <> 'read committed';
  begin
    if not is_old and shape = audit.shape_of(relation) then
      return known::audit.recorded_columns;
    end if;
    -- `offset 0` makes each value once, not for each mention.
    select
      coalesce(array_agg(c.name) filter (where c.kind = 's'), '{}'),
      coalesce(array_agg(c.name) filter (where c.kind = 'd' or c.is_generated), '{}'),
      min(c.name) filter (where c.kind in ('p', 'b')),
      coalesce(
        array_agg(c.name) filter (where c.kind in ('k', 'b')),
        array_agg(c.name) filter (where c.is_key and c.name <> 'organization_id'),
        array_agg(c.name) filter (where c.is_key)),
      bool_and(c.is_plain),
      count(c.kind)
    into found.secrets, found.derived, found.subject, found.key, found.is_plain, named
    from (
      select
        case when is_old then (pg_identify_object_as_address('pg_class'::regclass, relation, a.attnum)).object_names[3]
          else a.attname::text end as name,
        a.attgenerated <> '' as is_generated,
        a.atttypid < 16384 and a.atttypid not in ('json'::regtype, 'json[]'::regtype, 'jsonb'::regtype, 'jsonb[]'::regtype) as is_plain,
        a.attnum = any ((
          select (i.indkey::int2[])[0:i.indnkeyatts - 1] from pg_index i where i.indrelid = relation and i.indisprimary)::int2[]) as is_key,
        substr(kinds, 1 + array_position((
          select t.tgattr from pg_trigger t where t.tgrelid = relation and t.tgname = 'audit_columns')::int2[], a.attnum), 1) as kind
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
      offset 0
    ) as c;
    if named <> length(kinds) then
      raise object_not_in_prerequisite_state using
        message = format('%s lost its trigger audit_columns, which says which columns are secret', relation::regclass),
        hint = format('Name them again: select %I.record(%L, secrets => …)', 'audit', relation::regclass);
    elsif found.key is null then
      raise object_not_in_prerequisite_state using
        message = format('%s is recorded, and has no primary key any more', relation::regclass),
        hint = format('Name the column that says which row it is: select %I.record(%L, row_id => …)', 'audit', relation::regclass);
    end if;
    return found;
  end
  $$;
comment on function audit.columns_of(oid, text, text, text) is 'The columns of a recorded table, from the arguments of its triggers.';
grant execute on function audit.shape_of(oid), audit.columns_of(oid, text, text, text) to graph_helper, graph_auditor, graph_admin;

-- Parsed when it is made, and so without a setting: PostgreSQL writes it into the statement that calls it.
create function audit.entry_of(known audit.recorded_columns, old_value jsonb, new_value jsonb)
  returns table (organization_id uuid, subject_id uuid, row_id text, command text, columns text[], before jsonb, after jsonb)
  language sql stable
  begin atomic
    select
      coalesce(of.organization_id, own.id, no.id), coalesce((w.value ->> known.subject)::uuid, own.id, of.organization_id, no.id), of.key,
      case when old_value is null then 'insert' when new_value is null then 'delete' else 'update' end, coalesce(c.names, '{}'),
      case when old_value is not null then coalesce(c.before, '{}') end, case when new_value is not null then coalesce(c.after, '{}') end
    from (select coalesce(new_value, old_value) as value) as w
    cross join lateral (
      select
        (w.value ->> 'organization_id')::uuid as organization_id,
        case when cardinality(known.key) = 1 then w.value ->> known.key[1]
          else (select jsonb_object_agg(name, w.value -> name)::text from unnest(known.key) as name) end as key
    ) as of
    cross join lateral (select case when of.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then of.key::uuid end as id) as own
    cross join (select '00000000-0000-0000-0000-000000000000'::uuid as id) as no
    cross join lateral (
      select
        array_agg(name) as names,
        jsonb_object_agg(name, old_value -> name) filter (where name <> all (known.secrets)) as before,
        jsonb_object_agg(name, value) filter (where name <> all (known.secrets)) as after
      from jsonb_each(w.value) as e (name, value)
      where coalesce(case when new_value is not null then old_value -> name end, 'null') is distinct from value
        and name <> all (known.derived)
    ) as c
    -- An update that changes nothing leaves no trace.
    where c.names is not null or old_value is null or new_value is null;
  end;
comment on function audit.entry_of(audit.recorded_columns, jsonb, jsonb) is 'What the history says of a row as it was and is.';
grant execute on function audit.entry_of(audit.recorded_columns, jsonb, jsonb) to graph_helper;

create function audit.recorded_values(value record) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  begin
    return (
      select jsonb_object_agg(e.key, e.value) from jsonb_each(app_hidden.row_values(recorded_values.value)) as e where e.value <> 'null');
  end
  $$;
comment on function audit.recorded_values(record) is 'A row as the history keeps it: without what is null.';
grant execute on function audit.recorded_values(record) to graph_helper;

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
    known audit.recorded_columns;
    -- A partition is recorded by its parent's name.
    root regclass = coalesce(pg_partition_root(tg_relid), tg_relid);
  begin
    if pg_partition_root(tg_relid) is not null and not app_hidden.has_row_trigger(tg_relid, 'audit_row') then
      return null;
    end if;
    -- A foreign key deletes in every table that refers to a row, and mostly nothing.
    if tg_op = 'DELETE' then
      if not exists (select from affected) then
        return null;
      end if;
    end if;
    known = audit.columns_of(root, tg_argv[0], tg_argv[1], tg_argv[2]);
    -- Runs as graph_helper because no client role may write the history. `offset 0` makes each value once, not for each mention.
    insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, before, after)
    select
      coalesce((value ->> 'organization_id')::uuid, own.id, no.id),
      coalesce((value ->> known.subject)::uuid, own.id, (value ->> 'organization_id')::uuid, no.id),
      root::text, rows.key, lower(tg_op), array(select jsonb_object_keys(kept)),
      case tg_op when 'DELETE' then kept - known.secrets end, case tg_op when 'INSERT' then kept - known.secrets end
    from (
      select
        value, value - known.derived as kept,
        case when cardinality(known.key) = 1 then value ->> known.key[1]
          else (select jsonb_object_agg(name, value -> name)::text from unnest(known.key) as name) end as key
      from (
        select case when known.is_plain then jsonb_strip_nulls(to_jsonb(r)) else audit.recorded_values(r) end as value
        from affected r
        offset 0
      ) as written
      offset 0
    ) as rows
    cross join lateral (select case when rows.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then rows.key::uuid end as id) as own
    cross join (select '00000000-0000-0000-0000-000000000000'::uuid as id) as no;
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
    root regclass = pg_partition_root(tg_relid);
    known audit.recorded_columns;
    is_paired boolean = (select count(*) from before) = (select count(*) from after);
  begin
    -- Runs as graph_helper because no client role may write the history.
    if not app_hidden.has_row_trigger(tg_relid, 'audit_row')
      or coalesce(current_setting('recording.backfill', true), '') <> '' and app_hidden.is_backfill(root)
    then
      return null;
    end if;
    known = audit.columns_of(root, tg_argv[0], tg_argv[1], tg_argv[2]);
    insert into audit.changes (relation, organization_id, subject_id, row_id, command, columns, before, after)
    select root::text, e.*
    from (
      select
        place, is_new, case when is_new then value end as new_value,
        case when is_paired then lag(value) over (partition by place order by is_new) when not is_new then value end as old_value
      from (
        select row_number() over () as place, false as is_new, app_hidden.row_values(b) as value from before b
        union all
        select row_number() over () + case when is_paired then 0 else (select count(*) from before) end, true, app_hidden.row_values(a)
        from after a
      ) as rows
    ) as pairs
    cross join lateral audit.entry_of(known, old_value, new_value) as e
    where is_new or not is_paired
    order by place;
    return null;
  end
  $$;
comment on function audit.record_updates() is 'Records the rows of a partitioned table that a statement has changed, those that it moved included.';

-- Row by row, since only so an old row and its new one are known to belong together.
create function audit.record_row() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set row_security = on
  set quote_all_identifiers = off set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex'
  set extra_float_digits = 1
  as $$
  declare
    known audit.recorded_columns;
    root regclass = coalesce(pg_partition_root(tg_relid), tg_relid);
    old_value jsonb;
    new_value jsonb;
  begin
    -- Runs as graph_helper because no client role may write the history.
    if tg_name <> 'audit_row' and root <> tg_relid
      or tg_op = 'UPDATE' and coalesce(current_setting('recording.backfill', true), '') <> '' and app_hidden.is_backfill(root)
    then
      -- It was recorded before it became a partition, or is backfilled.
      return null;
    end if;
    known = audit.columns_of(root, tg_argv[0], tg_argv[1], tg_argv[2]);
    old_value = case when known.is_plain then to_jsonb(old) else app_hidden.row_values(old) end;
    new_value = case when known.is_plain then to_jsonb(new) else app_hidden.row_values(new) end;
    insert into audit.changes (relation, organization_id, subject_id, row_id, command, columns, before, after)
    select root::text, e.* from audit.entry_of(known, old_value, new_value) as e;
    return null;
  end
  $$;
comment on function audit.record_row() is
  'Records the columns of a row that an update has changed; of a partition that was named also a row that was inserted or deleted.';

-- The fact stays, the person goes: that there was a row, when and by whom it was changed, but not what it said.
create function audit.erase_person() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  begin
    -- Runs as graph_helper because no client role may change the history.
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
    known text;
    numbers int2[] = (select t.tgattr from pg_trigger t where t.tgrelid = root and t.tgname = 'audit_columns')::int2[];
    condition text;
    kinds text;
    columns text;
    arguments text;
    problem text;
    parent regclass;
  begin
    select substring(encode(t.tgargs, 'escape') from '^[a-z]*'), (regexp_match(pg_get_triggerdef(t.oid), ' WHEN (\(.*\)) EXECUTE '))[1]
      into known, condition
    from pg_trigger t
    where t.tgrelid = root and t.tgfoid = 'audit.record_row'::regproc and t.tgparentid = 0;
    with given (kind, parameter, names) as (
      values
        ('p', 'subject_id', nullif(array_remove(array[record.subject_id], ''), array[null]::name[])),
        ('k', 'row_id', nullif(array_remove(array[record.row_id], ''), array[null]::name[])),
        ('s', 'secrets', record.secrets), ('d', 'derived', record.derived)
    ),
    chosen as (
      select g.kind, g.parameter, a.attnum, n.name::text, a.atttypid, a.attnotnull
      from given g
      cross join unnest(g.names) as n (name)
      left join pg_attribute a on a.attrelid = root and a.attname = n.name and a.attnum > 0 and not a.attisdropped
      union all
      select g.kind, g.parameter, a.attnum, a.attname::text, a.atttypid, a.attnotnull
      from unnest(string_to_array(known, null), numbers) as k (kind, number)
      join given g on g.names is null and (g.kind = k.kind or k.kind = 'b' and g.kind in ('p', 'k'))
      left join pg_attribute a on a.attrelid = root and a.attnum = k.number
    ),
    by_column as (
      select attnum, min(name) as name, string_agg(distinct kind, '' order by kind) as kinds from chosen group by attnum
    )
    select
      (select string_agg(case b.kinds when 'kp' then 'b' else b.kinds end, '' order by attnum) from by_column b),
      (select string_agg(quote_ident(b.name), ', ' order by attnum) from by_column b),
      coalesce(
        (select format('%s lost its trigger audit_columns: name %s again', root, string_agg(distinct parameter, ', '))
         from chosen where name is null having count(*) > 0),
        (select format('%s has no column %s', root, string_agg(distinct name, ', ')) from chosen where attnum is null having count(*) > 0),
        (select format('%s.%s names a person, and is no uuid', root, c.name)
         from chosen c join pg_type t on t.oid = c.atttypid
         where c.kind = 'p' and t.oid <> 'uuid'::regtype and (t.typtype <> 'd' or t.typcategory <> 'U')),
        (select format('%s.%s may be null, and so cannot say which row it is', root, c.name)
         from chosen c where c.kind = 'k' and not c.attnotnull),
        (select format('%s.%s cannot be %s', root, min(c.name), string_agg(distinct c.parameter, ' and '))
         from chosen c join by_column b using (attnum) where length(b.kinds) > 1 and b.kinds <> 'kp' group by attnum limit 1),
        case when not exists (select from chosen where kind = 'k') then
          (select case when count(i) = 0 then format('%s has no primary key: give row_id, the column that says which row it is', root)
             else format('%s has a secret in its primary key: give row_id, another column that says which row it is', root) end
           from (select) as always
           left join pg_index i on i.indrelid = root and i.indisprimary
           having count(i) = 0 or bool_or(exists (
             select from chosen c where c.kind = 's' and c.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1]))))
        end)
      into kinds, columns, problem;
    if problem is not null then
      raise exception using
        errcode = case when problem ~ ' no column ' then 'undefined_column' else 'invalid_parameter_value' end, message = problem;
    end if;
    kinds = coalesce(kinds, '');
    if kinds <> '' then
      execute format(
        'create or replace trigger audit_columns after update of %s on %s
           for each statement when (false) execute function suppress_redundant_updates_trigger()',
        columns, root);
    elsif numbers is not null then
      execute format('drop trigger audit_columns on %s', root);
    end if;
    arguments = format('%L, %L, %L', kinds, audit.shape_of(root), audit.columns_of(root, kinds, null, null));
    foreach parent in array array(select root union all select t.relid from pg_partition_tree(root) t where not t.isleaf and t.relid <> root) loop
      execute format(
        'create or replace trigger audit_insert after insert on %s referencing new table as affected
           for each statement execute function audit.record_rows(%s)', parent, arguments);
      execute format(
        'create or replace trigger audit_delete after delete on %s referencing old table as affected
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
           execute function audit.record_row(%s)', root, 'audit ' || root || ' ', arguments);
    else
      -- Rows are compared as they are kept: not every type has an equality.
      execute format(
        'create or replace trigger audit_update after update on %s
           for each row when %s execute function audit.record_row(%s)', root, coalesce(condition, '(old.* *<> new.*)'), arguments);
    end if;
  end
  $$;
comment on function audit.record(regclass, name, name, name[], name[]) is
  'Begins to record what changes in a table; of a partition that is its parent. Again: what is not given stays, and '''' takes a column '
  'back. `subject_id` is the column of the person whom a row belongs to, `row_id` one that says which row it is, instead of the primary '
  'key; of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';

-- A backfill of many rows says nothing of what people did. What it leaves out, it says itself, in the same transaction.
create function audit.backfill(relation regclass, reason text, statement text) returns bigint
  language plpgsql volatile set search_path = pg_catalog, pg_temp set row_security = on set quote_all_identifiers = off
  as $$
  declare
    root regclass = coalesce(pg_partition_root(relation), relation);
    -- What the owner of a definer may do is not asked: it is a session of the owner, or none.
    acting text = current_setting('role');
    name text = (
      select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = root);
    rows bigint;
  begin
    perform set_config('recording.backfill', root::oid::text, true);
    if not app_hidden.is_backfill(root) then
      raise insufficient_privilege using message = format('Only the owner of %s leaves out of the history what it updates', name);
    end if;
    execute statement;
    get diagnostics rows = row_count;
    perform set_config('recording.backfill', '', true), set_config('role', 'graph_helper', true);
    insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, after, role)
    select
      no, no, name, no::text, 'backfill', '{}', jsonb_build_object('reason', reason, 'rows', rows),
      coalesce(nullif(acting, 'none'), session_user)
    from (select '00000000-0000-0000-0000-000000000000'::uuid as no) as unknown
    where rows > 0;
    perform set_config('role', acting, true);
    return rows;
  end
  $$;
comment on function audit.backfill(regclass, text, text) is
  'Runs a statement, and returns its number of rows. What it updates in this table is in neither history nor feed; the history has one '
  'entry instead, with the reason and this number. For the owner, in a migration.';
grant create on schema audit to graph_helper;
alter function audit.record_rows() owner to graph_helper;
alter function audit.record_row() owner to graph_helper;
alter function audit.record_updates() owner to graph_helper;
alter function audit.erase_person() owner to graph_helper;
revoke create on schema audit from graph_helper;
