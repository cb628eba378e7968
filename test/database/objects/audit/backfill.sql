CREATE OR REPLACE FUNCTION audit.backfill(relation regclass, reason text, statement text)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
 SET quote_all_identifiers TO 'off'
AS $function$
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
    insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, after, role, login)
    select
      no, no, name, no::text, 'backfill', '{}', jsonb_build_object('reason', reason, 'rows', rows),
      coalesce(nullif(acting, 'none'), session_user), session_user
    from (select '00000000-0000-0000-0000-000000000000'::uuid as no) as unknown
    where rows > 0;
    perform set_config('role', acting, true);
    return rows;
  end
  $function$;
comment on function audit.backfill(regclass,text,text) is 'Runs a statement, and returns its number of rows. What it updates in this table is in neither history nor feed; the history has one entry instead, with the reason and this number. For the owner, in a migration.';
