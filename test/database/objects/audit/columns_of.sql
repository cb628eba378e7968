CREATE OR REPLACE FUNCTION audit.columns_of(relation oid, kinds text)
 RETURNS audit.recorded_columns
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  declare
    found audit.recorded_columns;
    named int;
    -- Its snapshot may be of before a column was renamed.
    is_old boolean = current_setting('transaction_isolation') <> 'read committed';
  begin
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
        case when kinds <> '' then
          substr(kinds, 1 + array_position((
            select t.tgattr from pg_trigger t where t.tgrelid = relation and t.tgname = 'audit_columns')::int2[], a.attnum), 1)
        end as kind
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
  $function$;
comment on function audit.columns_of(oid,text) is 'The columns of a recorded table; the argument of its triggers says what each is.';
grant execute on function audit.columns_of(oid,text) to graph_admin;
grant execute on function audit.columns_of(oid,text) to graph_auditor;
grant execute on function audit.columns_of(oid,text) to graph_helper;
