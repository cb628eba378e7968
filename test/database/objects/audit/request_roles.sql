create view audit.request_roles with (security_invoker=true) as
 SELECT r.oid AS role_id,
    known.role,
    known.kind
   FROM ( VALUES ('graph_app'::text,'token'::text), ('graph_user'::text,'token'::text), ('graph_basic'::text,'token'::text), ('graph_oauth'::text,'oauth'::text), ('graph_worker'::text,'worker'::text)) known(role, kind)
     JOIN pg_roles r ON r.rolname = known.role;
comment on view audit.request_roles is 'The roles that the server may become; its login roles are members of these alone.';
comment on column audit.request_roles.kind is '`token`: that of a scope; `oauth`: the OAuth server at work for an organization; `worker`: work for every organization, as which no request comes.';

grant select on audit.request_roles to graph_admin;
grant select on audit.request_roles to graph_auditor;
grant select on audit.request_roles to graph_helper;
