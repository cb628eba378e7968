CREATE OR REPLACE FUNCTION oauth.note_uses(roles text[], statements text[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
    -- Runs as graph_helper because what is used is no row of an organization. In one order, so that two at once do not deadlock.
    insert into audit.uses as known (role, command, object, part)
    select distinct s.role, r.command, r.object, r.part
    from unnest(roles, statements) as s (role, statement) cross join lateral audit.rights_in(s.statement) as r
    where s.role in (select q.role from audit.request_roles q where q.kind = 'token')
    order by 1, 2, 3, 4
    on conflict on constraint uses_pkey do update set used_on = current_date where known.used_on < current_date
  $function$;
alter function oauth.note_uses(text[],text[]) owner to graph_helper;
comment on function oauth.note_uses(text[],text[]) is 'Notes that statements were run today, each by the role of its place; keeps no text.';
grant execute on function oauth.note_uses(text[],text[]) to graph_admin;
grant execute on function oauth.note_uses(text[],text[]) to graph_oauth;
