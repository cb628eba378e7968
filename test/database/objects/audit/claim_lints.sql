create view audit.claim_lints with (security_invoker=true) as
 WITH schemas AS (
         SELECT pg_namespace.oid,
            pg_namespace.nspname
           FROM pg_namespace
          WHERE pg_namespace.nspname !~ '^(pg_|information_schema$|graphile_)'::text
        ), policies AS (
         SELECT p.oid,
            p.polrelid,
            p.polpermissive,
            p.polcmd,
            p.polroles,
            format('%s on %s'::text, p.polname, p.polrelid::regclass) AS object,
            pg_get_expr(p.polqual, p.polrelid) AS using_expression,
            pg_get_expr(p.polwithcheck, p.polrelid) AS check_expression,
            (EXISTS ( SELECT
                   FROM audit.request_roles r,
                    unnest(p.polroles) named(named)
                  WHERE r.kind <> 'worker'::text AND (named.named = 0::oid OR pg_has_role(r.role_id, NULLIF(named.named, 0::oid), 'member'::text) AND NOT (EXISTS ( SELECT
                           FROM audit.lent_roles l_1
                          WHERE l_1.borrower_id = r.role_id AND l_1.lender_id = named.named))))) AS of_requests,
            (EXISTS ( SELECT
                   FROM pg_attribute a
                  WHERE a.attrelid = p.polrelid AND a.attname = 'organization_id'::name AND NOT a.attisdropped)) AS of_organizations
           FROM pg_policy p
        ), texts(is_source, object, text) AS (
         SELECT true AS "?column?",
            p.oid::regprocedure::text,
            COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc) AS "coalesce"
           FROM pg_proc p
          WHERE (p.pronamespace IN ( SELECT schemas.oid
                   FROM schemas)) AND NOT (EXISTS ( SELECT
                   FROM pg_depend d
                  WHERE d.classid = 'pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'e'::"char"))
        UNION ALL
         SELECT false,
            policies.object,
            concat_ws(' '::text, policies.using_expression, policies.check_expression) AS concat_ws
           FROM policies
        UNION ALL
         SELECT false,
            c.oid::regclass::text,
            pg_get_viewdef(c.oid) AS pg_get_viewdef
           FROM pg_class c
          WHERE (c.relkind = ANY (ARRAY['v'::"char", 'm'::"char"])) AND (c.relnamespace IN ( SELECT schemas.oid
                   FROM schemas))
        UNION ALL
         SELECT false,
            format('%s.%I'::text, a.attrelid::regclass, a.attname) AS format,
            pg_get_expr(d.adbin, d.adrelid) AS pg_get_expr
           FROM pg_attrdef d
             JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
             JOIN pg_class c ON c.oid = d.adrelid
          WHERE (c.relnamespace IN ( SELECT schemas.oid
                   FROM schemas))
        UNION ALL
         SELECT false,
            format('%I on %s'::text, k.conname, k.conrelid::regclass) AS format,
            pg_get_constraintdef(k.oid) AS pg_get_constraintdef
           FROM pg_constraint k
          WHERE k.contype = 'c'::"char" AND k.conrelid <> 0::oid AND (k.connamespace IN ( SELECT schemas.oid
                   FROM schemas))
        UNION ALL
         SELECT false,
            format('%I on %s'::text, t.tgname, t.tgrelid::regclass) AS format,
            pg_get_triggerdef(t.oid) AS pg_get_triggerdef
           FROM pg_trigger t
             JOIN pg_class c ON c.oid = t.tgrelid
          WHERE NOT t.tgisinternal AND (c.relnamespace IN ( SELECT schemas.oid
                   FROM schemas))
        ), lints(name, level, object, detail, remedy) AS (
         SELECT 'policy_without_organization'::text AS "?column?",
            'error'::text AS "?column?",
            p.object,
            format('lets a request pass from one organization to another: nothing in its %s compares organization_id with the claim'::text, parts.parts) AS format,
            'Begin it with organization_id = (select app_hidden.current_organization_id()) and …'::text AS "?column?"
           FROM policies p
             CROSS JOIN LATERAL audit.parts_without_organization(p.oid) parts(parts)
          WHERE p.of_requests AND p.of_organizations AND p.polpermissive AND parts.parts IS NOT NULL AND NOT (EXISTS ( SELECT
                   FROM policies r
                  WHERE r.polrelid = p.polrelid AND NOT r.polpermissive AND (r.polcmd = ANY (ARRAY['*'::"char", p.polcmd])) AND ((0::oid = ANY (r.polroles)) OR r.polroles @> p.polroles) AND audit.parts_without_organization(r.oid) IS NULL))
        UNION ALL
         SELECT 'policy_always_true'::text,
            'error'::text,
            policies.object,
            'holds for any row and any claim'::text,
            'Compare with a claim.'::text
           FROM policies
          WHERE policies.of_requests AND policies.polpermissive AND (audit.is_always_true(policies.using_expression) OR audit.is_always_true(policies.check_expression)) AND NOT (policies.polcmd <> 'r'::"char" AND ('true'::text = policies.using_expression OR 'true'::text = policies.check_expression))
        UNION ALL
         SELECT 'claim_of_its_own'::text,
            'error'::text,
            p.oid::regprocedure::text,
            'does not return what its setting says, as policies believe'::text,
            format('begin return nullif(current_setting(''graph.%s'', true), ''''); end'::text, replace(p.proname::text, 'current_'::text, ''::text)) AS format
           FROM pg_proc p
          WHERE p.pronamespace = 'app_hidden'::regnamespace::oid AND (p.proname = ANY (ARRAY['current_organization_id'::name, 'current_application_id'::name, 'current_user_id'::name])) AND COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc) !~* format('^\s*(?:begin\s+return|select)\s+nullif\(current_setting\(''graph\.%s'', true\), ''''\)(?:::uuid)?\s*;?\s*(?:end\s*;?\s*)?$'::text, replace(p.proname::text, 'current_'::text, ''::text))
        UNION ALL
         SELECT DISTINCT 'setting_changed'::text,
            'error'::text,
            texts.object,
            'may set graph.…, which policies take for the claims of the token'::text,
            'Only the server sets it: take it away.'::text
           FROM texts
          WHERE texts.is_source AND texts.text ~* '\m(?:set\s+(?:(?:local|session)\s+)?"?graph"?\s*\.|set\s+(?:local|session)\s+(?:%|''\s*\|\|)|(?:reset|discard)\s+(?:all\M|"?graph"?\s*\.))|''\s*set\s+(?:%|''\s*\|\|)'::text OR (EXISTS ( SELECT
                   FROM regexp_matches(texts.text,
                        CASE
                            WHEN texts.is_source THEN '\mset_config\M'::text
                            ELSE '\mset_config\('::text
                        END || '(?:"?\s*\(?\s*(''[^'']*'')(?:::text)?\s*,)?'::text, 'gi'::text) call(call)
                  WHERE COALESCE(call.call[1], '''graph.'::text) ~* '^''\s*graph\.'::text))
        UNION ALL
         SELECT 'setting_changed'::text,
            'error'::text,
            p.oid::regprocedure::text,
            format('begins with %s'::text, array_to_string(p.proconfig, ', '::text)) AS format,
            'alter function … reset all'::text
           FROM pg_proc p
          WHERE (p.pronamespace IN ( SELECT schemas.oid
                   FROM schemas)) AND (EXISTS ( SELECT
                   FROM unnest(p.proconfig) setting(setting)
                  WHERE setting.setting ~* '^graph\.'::text))
        UNION ALL
         SELECT 'setting_changed'::text,
            'error'::text,
                CASE pg_db_role_setting.setrole
                    WHEN 0 THEN format('database %I'::text, current_database())
                    ELSE pg_get_userbyid(pg_db_role_setting.setrole)::text
                END AS pg_get_userbyid,
            format('begins each session with %s'::text, array_to_string(pg_db_role_setting.setconfig, ', '::text)) AS format,
            'alter role … reset all, or alter database … reset all'::text
           FROM pg_db_role_setting
          WHERE (pg_db_role_setting.setdatabase = ANY (ARRAY[0::oid, ( SELECT pg_database.oid
                   FROM pg_database
                  WHERE pg_database.datname = current_database())])) AND (EXISTS ( SELECT
                   FROM unnest(pg_db_role_setting.setconfig) setting(setting)
                  WHERE setting.setting ~* '^graph\.'::text))
        UNION ALL
         SELECT 'connect_for_everybody'::text,
            'warning'::text,
            format('database %I'::text, pg_database.datname) AS format,
            'lets every role of the cluster connect, such as the server of another database'::text,
            'npm run db:migrate as the owner of the database, or revoke connect on database … from public'::text
           FROM pg_database,
            LATERAL aclexplode(COALESCE(pg_database.datacl, acldefault('d'::"char", pg_database.datdba))) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE pg_database.datname = current_database() AND acl.grantee = 0::oid AND acl.privilege_type = 'CONNECT'::text
        )
 SELECT name,
    level,
    object,
    detail,
    remedy COLLATE "default" AS remedy
   FROM lints l
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = l.name AND a.object = l.object));
comment on view audit.claim_lints is 'What lets a request pass for another, or into another organization; empty when all is well.';

grant select on audit.claim_lints to graph_admin;
grant select on audit.claim_lints to graph_auditor;
