create schema audit;
comment on schema audit is 'Who may do what, and who did what. For graph_auditor; no request reads it.';
grant usage on schema audit to graph_admin;
grant usage on schema audit to graph_auditor;
grant usage on schema audit to graph_helper;
