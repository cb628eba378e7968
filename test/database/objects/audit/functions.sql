create view audit.functions with (security_invoker=true) as
 SELECT p.oid AS function,
    p.proowner::regrole AS owner,
    p.prosecdef AS definer,
    p.proconfig AS settings,
    ARRAY( SELECT
                CASE acl.grantee
                    WHEN 0 THEN 'public'::text
                    ELSE pg_get_userbyid(acl.grantee)::text
                END AS pg_get_userbyid
           FROM aclexplode(COALESCE(p.proacl, acldefault('f'::"char", p.proowner))) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE acl.grantee <> p.proowner
          ORDER BY (
                CASE acl.grantee
                    WHEN 0 THEN 'public'::text
                    ELSE pg_get_userbyid(acl.grantee)::text
                END)) AS callers,
    ARRAY( SELECT t.tgrelid::regclass::text AS tgrelid
           FROM pg_trigger t
          WHERE t.tgfoid = p.oid
          ORDER BY (t.tgrelid::regclass::text)) AS trigger_tables,
    obj_description(p.oid, 'pg_proc'::name) AS comment,
    format('%I.%I(%s)'::text, n.nspname, p.proname, oidvectortypes(p.proargtypes)) AS name
   FROM pg_proc p
     JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname !~ '^(pg_|information_schema$|graphile_)'::text;
comment on view audit.functions is 'Every function: with whose rights it runs, and who may call it.';

grant select on audit.functions to graph_admin;
grant select on audit.functions to graph_auditor;
