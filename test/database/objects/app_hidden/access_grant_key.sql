create type app_hidden.access_grant_key as (
  user_id uuid,
  unit_id uuid
);
comment on type app_hidden.access_grant_key is 'What is in the id of a grant.';
grant usage on type app_hidden.access_grant_key to graph_app;
grant usage on type app_hidden.access_grant_key to public;
