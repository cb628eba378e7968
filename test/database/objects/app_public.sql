create schema app_public;
comment on schema app_public is 'What GraphQL shows.';
grant usage on schema app_public to graph_admin;
grant usage on schema app_public to graph_app;
grant usage on schema app_public to graph_basic;
grant usage on schema app_public to graph_helper;
grant usage on schema app_public to graph_oauth;
grant usage on schema app_public to graph_user;
grant usage on schema app_public to graph_worker;
