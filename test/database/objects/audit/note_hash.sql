CREATE OR REPLACE FUNCTION audit.note_hash()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    delete from audit.accepted where (kind, object, who) = (new.kind, new.object, new.who);
    new.hash = coalesce(new.hash, case
      when new.kind in ('definer', 'invariant') then audit.hash_of(new.object, new.who)
      when new.kind = 'right' then
        array(select concat_ws(' ', r.command, r.part) from audit.rights r where r.object = new.object and r.who = new.who order by 1)::text
      when new.kind = 'secret_readable' then array(
        select r.role
        from audit.request_roles r
        join pg_attribute a on format('%s.%s', a.attrelid::regclass, a.attname) = new.object
        where has_column_privilege(r.role_id, a.attrelid, a.attnum, 'select')
        order by 1)::text
    end);
    return new;
  end
  $function$;
comment on function audit.note_hash() is 'Replaces a former acceptance, and notes what is accepted, so that what changes later is not.';
grant execute on function audit.note_hash() to graph_admin;
