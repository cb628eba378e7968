create view audit.lent_roles with (security_invoker=true) as
 SELECT q.role_id AS borrower_id,
    lender.oid AS lender_id
   FROM audit.request_roles q
     JOIN pg_roles lender ON lender.oid <> q.role_id AND pg_has_role(q.role_id, lender.oid, 'member'::text) AND (lender.rolname ~ '^(graph|pg)_'::text OR (lender.oid IN ( SELECT request_roles.role_id
           FROM audit.request_roles)))
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = 'set role'::text AND a.object = lender.rolname AND a.who = q.role));
comment on view audit.lent_roles is 'Which role a role of requests may become, without having been accepted; empty when all is well.';

grant select on audit.lent_roles to graph_admin;
grant select on audit.lent_roles to graph_auditor;
