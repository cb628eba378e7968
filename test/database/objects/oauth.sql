create schema oauth;
comment on schema oauth is 'Applications, credentials, grants and tokens.';
grant usage on schema oauth to graph_admin;
grant usage on schema oauth to graph_app;
grant usage on schema oauth to graph_helper;
grant usage on schema oauth to graph_oauth;
grant usage on schema oauth to graph_purger;
