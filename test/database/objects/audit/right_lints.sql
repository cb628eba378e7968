create view audit.right_lints with (security_invoker=true) as
 SELECT DISTINCT 'forbidden_column_granted'::text,
    'error'::text AS level,
    format('%s.%s'::text, i.relation, a.attname) AS object,
    format('%s may %s it, and the invariant %s says that this role never does'::text, r.role, command.command, i.name) AS detail,
    format('revoke %s (%I) on %s from %s, or state the invariant anew'::text, command.command, a.attname, i.relation, r.role) AS remedy
   FROM audit.invariants i
     CROSS JOIN LATERAL unnest(i.commands) command(command)
     JOIN audit.request_roles r ON
        CASE
            WHEN i.roles IS NULL THEN r.kind <> 'worker'::text
            ELSE r.role = ANY (i.roles)
        END
     JOIN pg_namespace n ON true
     JOIN pg_class c ON c.relnamespace = n.oid AND format('%I.%I'::text, n.nspname, c.relname) = i.relation
     JOIN pg_attribute a ON a.attrelid = c.oid AND (a.attname = ANY (i.columns)) AND NOT a.attisdropped
  WHERE i.expression = 'false'::text AND (command.command = ANY (ARRAY['insert'::text, 'update'::text])) AND has_column_privilege(r.role_id, a.attrelid, a.attnum, command.command) AND NOT (EXISTS ( SELECT
           FROM audit.lent_roles l
          WHERE l.borrower_id = r.role_id AND has_column_privilege(l.lender_id, a.attrelid, a.attnum, command.command)));
comment on view audit.right_lints is 'Rights to write a column of which an invariant says that no such role writes it; empty when all is well.';

grant select on audit.right_lints to graph_admin;
grant select on audit.right_lints to graph_auditor;
