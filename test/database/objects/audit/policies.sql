create view audit.policies with (security_invoker=true) as
 SELECT polrelid::regclass AS relation,
    polname AS policy,
        CASE polcmd
            WHEN 'r'::"char" THEN 'select'::text
            WHEN 'a'::"char" THEN 'insert'::text
            WHEN 'w'::"char" THEN 'update'::text
            WHEN 'd'::"char" THEN 'delete'::text
            ELSE 'all'::text
        END AS command,
    polpermissive AS permissive,
    polroles AS role_ids,
    ARRAY( SELECT
                CASE role.role
                    WHEN 0 THEN 'public'::text
                    ELSE pg_get_userbyid(role.role)::text
                END AS pg_get_userbyid
           FROM unnest(p.polroles) role(role)
          ORDER BY (
                CASE role.role
                    WHEN 0 THEN 'public'::text
                    ELSE pg_get_userbyid(role.role)::text
                END)) AS roles,
    obj_description(oid, 'pg_policy'::name) AS rule,
    pg_get_expr(polqual, polrelid) AS using_expression,
    pg_get_expr(polwithcheck, polrelid) AS check_expression
   FROM pg_policy p;
comment on view audit.policies is 'Every policy, its rule in plain English and its expressions.';

grant select on audit.policies to graph_admin;
grant select on audit.policies to graph_auditor;
