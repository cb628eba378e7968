CREATE OR REPLACE FUNCTION app_hidden.units_lock_tree()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if tg_op <> 'DELETE' and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'Units are added and moved in read committed transactions only'
        using errcode = 'feature_not_supported', hint = 'A statement must see what was committed before it got its turn.';
    end if;
    perform app_hidden.lock_units(tg_op = 'INSERT');
    return null;
  end
  $function$;
comment on function app_hidden.units_lock_tree() is 'Locks the tree for a statement that adds, moves or deletes units.';
