create schema feed;
comment on schema feed is 'The change feed: `feed.follow` adds a table to it.';
grant usage on schema feed to graph_admin;
grant usage on schema feed to graph_app;
grant usage on schema feed to graph_helper;
grant usage on schema feed to graph_oauth;
grant usage on schema feed to graph_purger;
grant usage on schema feed to graph_worker;
