CREATE OR REPLACE FUNCTION audit.record(relation regclass, subject_id name DEFAULT NULL::name, row_id name DEFAULT NULL::name, secrets name[] DEFAULT NULL::name[], derived name[] DEFAULT NULL::name[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
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
    problem text;
    parent regclass;
  begin
    select substring(encode(t.tgargs, 'escape') from '^[a-z]*'), (regexp_match(pg_get_triggerdef(t.oid), ' WHEN (\(.*\)) EXECUTE '))[1]
      into known, condition
    from pg_trigger t
    where t.tgrelid = root and t.tgfoid = 'audit.record_update'::regproc and t.tgparentid = 0;
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
    foreach parent in array array(select root union all select t.relid from pg_partition_tree(root) t where not t.isleaf and t.relid <> root) loop
      execute format(
        'create or replace trigger audit_insert after insert on %s referencing new table as affected
           for each statement execute function audit.record_rows(%L)', parent, kinds);
      execute format(
        'create or replace trigger audit_delete after delete on %s referencing old table as affected
           for each statement execute function audit.record_rows(%L)', parent, kinds);
      continue when not is_partitioned;
      execute format(
        'create or replace trigger audit_update after update on %s referencing old table as before new table as after
           for each statement execute function audit.record_updates(%L)', parent, kinds);
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
           execute function audit.record_update(%L)', root, 'audit ' || root || ' ', kinds);
    else
      -- Rows are compared as they are kept: not every type has an equality.
      execute format(
        'create or replace trigger audit_update after update on %s
           for each row when %s execute function audit.record_update(%L)', root, coalesce(condition, '(old.* *<> new.*)'), kinds);
    end if;
  end
  $function$;
comment on function audit.record(regclass,name,name,name[],name[]) is 'Begins to record what changes in a table; of a partition that is its parent. Again: what is not given stays, and '''' takes a column back. `subject_id` is the column of the person whom a row belongs to, `row_id` one that says which row it is, instead of the primary key; of `secrets` only the names are recorded; `derived` columns follow from others, as generated ones do, and are not recorded.';
