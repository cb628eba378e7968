create schema app_hidden;
comment on schema app_hidden is 'Tables and helpers behind the policies; GraphQL shows none of them.';
grant usage on schema app_hidden to graph_admin;
grant usage on schema app_hidden to graph_app;
grant usage on schema app_hidden to graph_basic;
grant usage on schema app_hidden to graph_helper;
grant usage on schema app_hidden to graph_oauth;
grant usage on schema app_hidden to graph_user;
grant usage on schema app_hidden to graph_worker;
