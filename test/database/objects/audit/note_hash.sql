CREATE OR REPLACE FUNCTION audit.note_hash()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    delete from audit.accepted where (kind, object, who) = (new.kind, new.object, new.who);
    if new.kind in ('definer', 'invariant') then
      new.hash := coalesce(new.hash, audit.hash_of(new.object, new.who));
    end if;
    return new;
  end
  $function$;
comment on function audit.note_hash() is 'Replaces a former acceptance, and notes the hash of what is accepted.';
grant execute on function audit.note_hash() to graph_admin;
