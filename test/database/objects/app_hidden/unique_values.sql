CREATE OR REPLACE FUNCTION app_hidden.unique_values(judged app_hidden.judged_user[])
 RETURNS TABLE(place integer, known_id uuid, id uuid, rule name, wants text[])
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select j.place, (j.before).id, (j.after).id, of_row.rule, of_row.wants
    from unnest(judged) as j
    cross join lateral (
      select 'users_email_key'::name as rule, array[app_hidden.lowercase((j.after).email)] as wants
      where (j.before).email_lowercase is distinct from app_hidden.lowercase((j.after).email)
      union all
      select
        'users_external_authentication_token_hash_key',
        array[encode((j.after).external_authentication_token_hash, 'hex'), encode((j.changes ->> 'previous_hash')::bytea, 'hex')]
      where (j.after).external_authentication_token_hash is distinct from (j.before).external_authentication_token_hash
    ) as of_row
    where j.outcome <> 'REFUSED'
  $function$;
comment on function app_hidden.unique_values(app_hidden.judged_user[]) is 'The addresses and hashes of tokens that the rows of a sync change, by the unique constraint. Rows that are refused change none.';
grant execute on function app_hidden.unique_values(app_hidden.judged_user[]) to graph_admin;
grant execute on function app_hidden.unique_values(app_hidden.judged_user[]) to graph_app;
