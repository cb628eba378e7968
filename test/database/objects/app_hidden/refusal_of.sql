CREATE OR REPLACE FUNCTION app_hidden.refusal_of(rule oid)
 RETURNS app_public.sync_error
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
    select
      case contype when 'u' then 'CONFLICT' else 'BAD_USER_INPUT' end,
      (regexp_match(comment, '^@argument (\w+)', 'n'))[1],
      coalesce(nullif(regexp_replace(comment, '^(@[^\n]*(\n|$))*', ''), ''), 'A value is not allowed.')
    from (select contype, obj_description(oid, 'pg_constraint') as comment from pg_constraint where oid = refusal_of.rule) as broken
  $function$;
comment on function app_hidden.refusal_of(oid) is 'What a client reads when it breaks a constraint: its comment.';
grant execute on function app_hidden.refusal_of(oid) to graph_admin;
grant execute on function app_hidden.refusal_of(oid) to graph_app;
