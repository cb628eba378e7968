CREATE OR REPLACE FUNCTION audit.attempt(principal audit.principals, relation regclass, value jsonb, command text)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    outcome text;
    count bigint;
    condition text = audit.condition_of(relation, value);
    -- What the role may set, the key last.
    columns text[] = array(
      select quote_ident(a.attname)
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
        and command in ('insert', 'update') and has_column_privilege(principal.role, relation, a.attnum, command)
      order by exists (select from pg_index i where i.indrelid = relation and i.indisprimary and a.attnum = any (i.indkey)), a.attnum);
    statement text = case command
      when 'select' then format('select from %s where %s', relation, condition)
      when 'insert' then format('insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)', relation, nullif(array_to_string(columns, ', '), ''))
      -- The role may write the column and not read it.
      when 'update' then format(
        'update %1$s set %2$s = (jsonb_populate_record(null::%1$s, $1)).%2$s where %3$s', relation, columns[1], condition)
      when 'delete' then format('delete from %s where %s', relation, condition)
    end;
  begin
    if command in ('insert', 'update') and columns = '{}' then
      return 'not granted';
    end if;
    begin
      perform audit.let_find(relation, principal.role);
      perform audit.become(principal);
      execute statement using value;
      get diagnostics count = row_count;
      outcome = case when count > 0 then 'allowed' else 'finds no such row' end;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
      when integrity_constraint_violation then outcome = 'allowed';
      when insufficient_privilege then outcome = 'refused';
    end;
    return outcome;
  end
  $function$;
comment on function audit.attempt(audit.principals,regclass,jsonb,text) is 'What becomes of a command on a row when the principal gives it: `allowed`, `finds no such row`, `refused` or `not granted`. An insert tries a row like this one; that it is there already, or any other rule that it breaks, is no matter of access. Nothing stays.';
grant execute on function audit.attempt(audit.principals,regclass,jsonb,text) to graph_admin;
