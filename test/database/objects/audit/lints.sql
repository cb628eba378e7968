create view audit.lints with (security_invoker=true) as
 WITH schemas AS (
         SELECT pg_namespace.oid,
            pg_namespace.nspname,
            pg_namespace.nspowner,
            pg_namespace.nspacl
           FROM pg_namespace
          WHERE pg_namespace.nspname !~ '^(pg_|information_schema$|graphile_)'::text
        ), tables AS (
         SELECT c.oid,
            c.oid::regclass::text,
            c.relrowsecurity,
            c.relacl
           FROM pg_class c
          WHERE (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char"])) AND (c.relnamespace IN ( SELECT schemas.oid
                   FROM schemas)) AND NOT (EXISTS ( SELECT
                   FROM pg_depend d
                  WHERE d.classid = 'pg_class'::regclass::oid AND d.objid = c.oid AND d.deptype = 'e'::"char"))
        ), request_roles AS (
         SELECT request_roles.role_id AS oid,
            request_roles.role,
            request_roles.kind
           FROM audit.request_roles
          WHERE request_roles.kind <> 'worker'::text
        ), lent_roles AS MATERIALIZED (
         SELECT lent_roles.borrower_id,
            lent_roles.lender_id
           FROM audit.lent_roles
        ), policies AS (
         SELECT p.oid,
            p.polrelid,
            p.polpermissive,
            p.polroles,
            p.polcmd,
            t.relrowsecurity,
            format('%s on %s'::text, p.polname, t.name) AS object,
                CASE p.polcmd
                    WHEN 'r'::"char" THEN '{select}'::text
                    WHEN 'a'::"char" THEN '{insert}'::text
                    WHEN 'w'::"char" THEN '{update}'::text
                    WHEN 'd'::"char" THEN '{delete}'::text
                    ELSE '{select,insert,update,delete}'::text
                END::text[] AS commands,
            pg_get_expr(p.polqual, p.polrelid) AS using_expression,
            pg_get_expr(p.polwithcheck, p.polrelid) AS check_expression,
            concat_ws(' and '::text, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) AS expressions,
            (EXISTS ( SELECT
                   FROM request_roles r,
                    unnest(p.polroles) named(named)
                  WHERE named.named = 0::oid OR pg_has_role(r.oid, NULLIF(named.named, 0::oid), 'usage'::text) AND NOT (EXISTS ( SELECT
                           FROM lent_roles l_1
                          WHERE l_1.borrower_id = r.oid AND l_1.lender_id = named.named)))) AS of_requests
           FROM pg_policy p
             JOIN tables t ON t.oid = p.polrelid
        ), policy_columns AS (
         SELECT DISTINCT d.objid AS policy_id,
            p.polrelid,
            d.refobjsubid AS number
           FROM pg_depend d
             JOIN policies p ON p.oid = d.objid AND d.refobjid = p.polrelid
          WHERE d.classid = 'pg_policy'::regclass::oid AND d.refclassid = 'pg_class'::regclass::oid AND d.refobjsubid > 0 AND (p.using_expression <> ALL (ARRAY['true'::text, 'false'::text]))
        ), policies_beside AS (
         SELECT p.oid,
            beside.oid AS beside_id
           FROM policies p
             JOIN policies beside ON beside.polrelid = p.polrelid AND beside.commands && p.commands
          WHERE beside.oid = p.oid OR NOT p.polpermissive OR NOT beside.polpermissive AND beside.commands @> p.commands AND ((0::oid = ANY (beside.polroles)) OR beside.polroles @> p.polroles)
        ), functions AS (
         SELECT p.oid,
            p.oid::regprocedure::text AS object,
            p.provolatile,
            p.proconfig,
            p.proacl,
            p.proowner,
            COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc) AS body
           FROM pg_proc p
          WHERE (p.pronamespace IN ( SELECT schemas.oid
                   FROM schemas)) AND NOT (EXISTS ( SELECT
                   FROM pg_depend d
                  WHERE d.classid = 'pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'e'::"char"))
        ), indexes AS (
         SELECT i.indexrelid,
            i.indrelid,
            i.indexrelid::regclass::text,
            i.indisunique,
            i.indisvalid,
            i.indpred,
            i.indexprs,
            (i.indkey::smallint[])[0:i.indnkeyatts - 1] AS keys,
            concat_ws(' '::text, i.indkey, i.indnkeyatts, i.indclass, i.indcollation, i.indoption, c.relam, i.indexprs, i.indpred) AS definition
           FROM pg_index i
             JOIN tables t ON t.oid = i.indrelid
             JOIN pg_class c ON c.oid = i.indexrelid
        ), lints(name, level, object, detail, remedy) AS (
         SELECT
                CASE bypasses.kind
                    WHEN 'table'::text THEN
                    CASE bypasses.how
                        WHEN 'row-level security is off'::text THEN 'row_security_off'::text
                        ELSE 'row_security_not_forced'::text
                    END
                    WHEN 'partition'::text THEN
                    CASE bypasses.how
                        WHEN 'row-level security is off'::text THEN 'row_security_off'::text
                        ELSE 'row_security_not_forced'::text
                    END
                    WHEN 'definer'::text THEN 'definer_function'::text
                    WHEN 'view'::text THEN 'definer_view'::text
                    ELSE replace(bypasses.kind, ' '::text, '_'::text)
                END AS replace,
            'error'::text AS "?column?",
            bypasses.object,
            concat_ws(' '::text, bypasses.who, bypasses.how) AS concat_ws,
                CASE bypasses.kind
                    WHEN 'definer'::text THEN 'Make it security invoker, or insert ''definer'', its signature, its callers and the reason into audit.accepted.'::text
                    WHEN 'view'::text THEN 'alter view … set (security_invoker = true)'::text
                    WHEN 'table'::text THEN 'alter table … enable row level security, force row level security'::text
                    WHEN 'partition'::text THEN 'alter table … enable row level security, force row level security'::text
                    ELSE 'Revoke it from the roles of requests: it cannot have policies.'::text
                END AS "case"
           FROM audit.bypasses
          WHERE NOT bypasses.known AND (bypasses.kind = ANY (ARRAY['table'::text, 'partition'::text, 'materialized view'::text, 'foreign table'::text, 'definer'::text, 'view'::text]))
        UNION ALL
         SELECT 'policy_without_row_security'::text,
            'error'::text,
            policies.object,
            'decides nothing while row-level security is off'::text,
            'alter table … enable row level security'::text
           FROM policies
          WHERE NOT policies.relrowsecurity
        UNION ALL
         SELECT 'row_security_without_policy'::text,
            'warning'::text,
            t.name,
            'shows no row to anybody'::text,
            'Write a policy for the role that shall see it.'::text
           FROM tables t
          WHERE t.relrowsecurity AND NOT (EXISTS ( SELECT
                   FROM pg_policy p
                  WHERE p.polrelid = t.oid))
        UNION ALL
         SELECT 'policy_for_everybody'::text,
            'error'::text,
            policies.object,
            'is for every role, whichever may come'::text,
            'Name the roles: create policy … to …'::text
           FROM policies
          WHERE 0::oid = ANY (policies.polroles)
        UNION ALL
         SELECT 'policy_always_true'::text,
            'error'::text,
            policies.object,
            format('lets a request %s any row'::text, array_to_string(array_remove(policies.commands, 'select'::text), ' and '::text)) AS format,
            'Compare with a claim.'::text
           FROM policies
          WHERE policies.of_requests AND policies.polpermissive AND policies.commands <> '{select}'::text[] AND ('true'::text = policies.using_expression OR 'true'::text = policies.check_expression)
        UNION ALL
         SELECT 'policy_without_check'::text,
            'error'::text,
            policies.object,
            'says which rows are changed and not what they may become'::text,
            'Write with check (…).'::text
           FROM policies
          WHERE policies.check_expression IS NULL AND policies.commands && '{insert,update}'::text[]
        UNION ALL
         SELECT 'policy_without_comment'::text,
            'warning'::text,
            policies.object,
            'has no rule in plain English'::text,
            'comment on policy … is ''…'''::text
           FROM policies
          WHERE obj_description(policies.oid, 'pg_policy'::name) IS NULL
        UNION ALL
         SELECT 'several_permissive_policies'::text,
            'warning'::text,
            t.name,
            format('%s of %s is decided by %s'::text, command.command, pg_get_userbyid(role.role), string_agg(p.polname::text, ' or '::text ORDER BY (p.polname::text))) AS format,
            'Write one policy for each command and role: their parts are or-ed, and all are computed.'::text
           FROM policies
             JOIN pg_policy p USING (oid)
             JOIN tables t ON t.oid = p.polrelid
             CROSS JOIN LATERAL unnest(policies.commands) command(command)
             CROSS JOIN LATERAL unnest(p.polroles) role(role)
          WHERE p.polpermissive
          GROUP BY t.name, command.command, role.role
         HAVING count(*) > 1
        UNION ALL
         SELECT 'claim_for_each_row'::text,
            'warning'::text,
            p.object,
            format('computes %s for each row'::text, string_agg(f.name, ', '::text ORDER BY f.name)) AS format,
            'Write (select …()).'::text
           FROM policies p
             CROSS JOIN LATERAL ( SELECT 'current_setting'::text
                UNION ALL
                 SELECT DISTINCT f_1.proname::text AS proname
                   FROM pg_depend d
                     JOIN pg_proc f_1 ON f_1.oid = d.refobjid
                  WHERE d.classid = 'pg_policy'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_proc'::regclass::oid AND f_1.pronargs = 0 AND f_1.provolatile <> 'i'::"char") f
          WHERE audit.outside_subqueries(p.expressions) ~ format('\m%s\('::text, f.name)
          GROUP BY p.object
        UNION ALL
         SELECT 'literal_in_policy'::text,
            'warning'::text,
            policies.object,
            format('names %s'::text, found.literal) AS format,
            'Compare with a claim or a row, so that the rule needs no migration when the value changes.'::text
           FROM policies
             CROSS JOIN LATERAL ( SELECT (regexp_match(regexp_replace(policies.expressions, 'current_setting\(''[^'']*''|''''::|''[^'']*''::interval|\mEXTRACT\([^)]*\)'::text, ''::text, 'g'::text), '''[^'']*''|(?:=|<>|ANY \(ARRAY\[)\s*\(?[0-9]+\M'::text))[1] AS literal) found
          WHERE found.literal IS NOT NULL
        UNION ALL
         SELECT 'policy_reads_unprotected_table'::text,
            'error'::text,
            p.object,
            format('believes %s, which has no row-level security'::text, t.name) AS format,
            'alter table … enable row level security, force row level security'::text
           FROM policies p
             JOIN pg_depend d ON d.classid = 'pg_policy'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass::oid AND d.refobjid <> p.polrelid
             JOIN tables t ON t.oid = d.refobjid
          WHERE NOT t.relrowsecurity
          GROUP BY p.object, t.name
        UNION ALL
         SELECT 'policy_column_without_index'::text,
            'warning'::text,
            p.object,
            format('asks for %s, which no index has behind a column of this policy'::text, a.attname) AS format,
            'create index on … (organization_id, …)'::text
           FROM policy_columns pc
             JOIN policies p ON p.oid = pc.policy_id
             JOIN pg_attribute a ON a.attrelid = pc.polrelid AND a.attnum = pc.number
          WHERE NOT (EXISTS ( SELECT
                   FROM indexes i
                  WHERE i.indrelid = pc.polrelid AND i.indisvalid AND (pc.number = ANY (i.keys)) AND (i.keys[1] IN ( SELECT first.number
                           FROM policies_beside b
                             JOIN policy_columns first ON first.policy_id = b.beside_id
                          WHERE b.oid = pc.policy_id))))
        UNION ALL
         SELECT 'search_path_mutable'::text,
            'warning'::text,
            functions.object,
            'finds what it names in the search path of its caller'::text,
            'alter function … set search_path = pg_catalog, pg_temp'::text
           FROM functions
          WHERE NOT (EXISTS ( SELECT
                   FROM unnest(functions.proconfig) setting(setting)
                  WHERE setting.setting ~~ 'search\_path=%'::text))
        UNION ALL
         SELECT 'function_for_everybody'::text,
            'error'::text,
            functions.object,
            'may be called by every role'::text,
            'revoke execute on function … from public'::text
           FROM functions
          WHERE (EXISTS ( SELECT
                   FROM aclexplode(COALESCE(functions.proacl, acldefault('f'::"char", functions.proowner))) acl(grantor, grantee, privilege_type, is_grantable)
                  WHERE acl.grantee = 0::oid))
        UNION ALL
         SELECT 'setting_must_exist'::text,
            'error'::text,
            texts.object,
            'fails, instead of denying, where the setting was never set'::text,
            'current_setting(''…'', true)'::text
           FROM ( SELECT functions.object,
                    functions.body AS text
                   FROM functions
                UNION ALL
                 SELECT policies.object,
                    policies.expressions
                   FROM policies
                UNION ALL
                 SELECT v.oid::regclass::text,
                        CASE
                            WHEN (v.relnamespace IN ( SELECT schemas.oid
                               FROM schemas)) THEN pg_get_viewdef(v.oid)
                            ELSE NULL::text
                        END AS "case"
                   FROM pg_class v
                  WHERE v.relkind = ANY (ARRAY['v'::"char", 'm'::"char"])) texts
          WHERE texts.text ~ '\mcurrent_setting\(\s*''[^''.]+\.[^'']+''(::text)?\s*\)'::text
        UNION ALL
         SELECT 'claim_kept_in_plan'::text,
            'error'::text,
            functions.object,
            'is immutable and reads a setting: a prepared statement would keep the claim of its first caller'::text,
            'alter function … stable'::text
           FROM functions
          WHERE functions.provolatile = 'i'::"char" AND functions.body ~ '\mcurrent_setting\('::text
        UNION ALL
         SELECT 'no_primary_key'::text,
            'warning'::text,
            t.name,
            'has no primary key'::text,
            'alter table … add primary key (…)'::text
           FROM tables t
          WHERE NOT (EXISTS ( SELECT
                   FROM pg_index i
                  WHERE i.indrelid = t.oid AND i.indisprimary))
        UNION ALL
         SELECT 'foreign_key_without_index'::text,
            'info'::text,
            format('%s on %s'::text, k.conname, t.name) AS format,
            'is checked by reading the whole table whenever what it points to is deleted or gets another key'::text,
            'create index on … (its columns, in any order)'::text
           FROM pg_constraint k
             JOIN tables t ON t.oid = k.conrelid
          WHERE k.contype = 'f'::"char" AND NOT (EXISTS ( SELECT
                   FROM indexes i
                  WHERE i.indrelid = k.conrelid AND i.indisvalid AND i.keys[1:cardinality(k.conkey)] @> k.conkey AND i.keys[1:cardinality(k.conkey)] <@ k.conkey))
        UNION ALL
         SELECT 'same_index_twice'::text,
            'warning'::text,
            string_agg(indexes.name, ', '::text ORDER BY indexes.name) AS string_agg,
            'are the same'::text,
            'drop index …'::text
           FROM indexes
          GROUP BY indexes.indrelid, indexes.definition
         HAVING count(*) > 1
        UNION ALL
         SELECT 'unique_across_organizations'::text,
            'error'::text,
            i.name,
            'tells one organization what another one has'::text,
            'Begin the key with organization_id.'::text
           FROM indexes i
             JOIN pg_attribute o ON o.attrelid = i.indrelid AND o.attname = 'organization_id'::name AND NOT o.attisdropped
          WHERE i.indisunique AND (o.attnum <> ALL (i.keys))
        UNION ALL
         SELECT 'reference_across_organizations'::text,
            'error'::text,
            format('%s on %s'::text, k.conname, t.name) AS format,
            'may point to a row of another organization'::text,
            'Refer to (organization_id, …).'::text
           FROM pg_constraint k
             JOIN tables t ON t.oid = k.conrelid
             JOIN pg_attribute theirs ON theirs.attrelid = k.confrelid AND theirs.attname = 'organization_id'::name AND NOT theirs.attisdropped
          WHERE k.contype = 'f'::"char" AND NOT (EXISTS ( SELECT
                   FROM UNNEST(k.conkey, k.confkey) pair(own, their)
                     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
                  WHERE a.attname = 'organization_id'::name AND pair.their = theirs.attnum))
        UNION ALL
         SELECT 'reference_sets_organization'::text,
            'error'::text,
            format('%s on %s'::text, k.conname, t.name) AS format,
            format('sets organization_id, too, when what it points to %s: that fails, or gives the row to nobody'::text, happens.event) AS format,
            happens.remedy
           FROM pg_constraint k
             JOIN tables t ON t.oid = k.conrelid
             JOIN pg_attribute o ON o.attrelid = k.conrelid AND o.attname = 'organization_id'::name AND (o.attnum = ANY (k.conkey))
             CROSS JOIN LATERAL ( SELECT 'is deleted'::text AS event,
                    format('on delete %s (%s)'::text,
                        CASE k.confdeltype
                            WHEN 'n'::"char" THEN 'set null'::text
                            ELSE 'set default'::text
                        END, ( SELECT string_agg(quote_ident(a.attname::text), ', '::text ORDER BY (array_position(k.conkey, a.attnum))) AS string_agg
                           FROM pg_attribute a
                          WHERE a.attrelid = k.conrelid AND (a.attnum = ANY (k.conkey)) AND a.attnum <> o.attnum)) AS remedy
                  WHERE (k.confdeltype = ANY (ARRAY['n'::"char", 'd'::"char"])) AND (k.confdelsetcols IS NULL OR (o.attnum = ANY (k.confdelsetcols)))
                UNION ALL
                 SELECT 'gets another key'::text,
                    'on update no action, or cascade'::text
                  WHERE k.confupdtype = ANY (ARRAY['n'::"char", 'd'::"char"])) happens
          WHERE k.contype = 'f'::"char" AND k.conparentid = 0::oid
        UNION ALL
         SELECT 'reference_of_two_collations'::text,
            'error'::text,
            format('%s on %s'::text, k.conname, t.name) AS format,
            format('compares %s of collation %s with %s of %s'::text, own.attname, own.attcollation::regcollation, their.attname, their.attcollation::regcollation) AS format,
            'alter table … alter column … type … collate …, so that both have the same.'::text
           FROM pg_constraint k
             JOIN tables t ON t.oid = k.conrelid
             CROSS JOIN LATERAL UNNEST(k.conkey, k.confkey) pair(own, their)
             JOIN pg_attribute own ON own.attrelid = k.conrelid AND own.attnum = pair.own
             JOIN pg_attribute their ON their.attrelid = k.confrelid AND their.attnum = pair.their
          WHERE k.contype = 'f'::"char" AND k.conparentid = 0::oid AND own.attcollation <> their.attcollation AND (0::oid <> ALL (ARRAY[own.attcollation, their.attcollation])) AND ((( SELECT pg_collation.oid
                   FROM pg_collation
                  WHERE pg_collation.collname = 'default'::name AND pg_collation.collnamespace = 'pg_catalog'::regnamespace::oid)) <> ALL (ARRAY[own.attcollation, their.attcollation]))
        UNION ALL
         SELECT 'type_that_hinders_upgrades'::text,
            'warning'::text,
            format('%s.%s'::text, c.oid::regclass, a.attname) AS format,
            format('is of type %s, whose values name objects by number'::text, a.atttypid::regtype) AS format,
            'Keep the name as text: pg_upgrade refuses this type.'::text
           FROM pg_class c
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          WHERE (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char"])) AND (c.relnamespace IN ( SELECT schemas.oid
                   FROM schemas)) AND (a.atttypid = ANY (ARRAY['regcollation'::regtype::oid, 'regconfig'::regtype::oid, 'regdictionary'::regtype::oid, 'regnamespace'::regtype::oid, 'regoper'::regtype::oid, 'regoperator'::regtype::oid, 'regproc'::regtype::oid, 'regprocedure'::regtype::oid]))
        UNION ALL
         SELECT 'privilege_for_everybody'::text,
            'error'::text,
            granted.object,
            format('everybody may %s'::text, string_agg(DISTINCT lower(granted.privilege_type), ', '::text)) AS format,
            'revoke … from public'::text
           FROM ( SELECT c.oid::regclass::text AS object,
                    acl.grantee,
                    acl.privilege_type
                   FROM pg_class c,
                    LATERAL aclexplode(c.relacl) acl(grantor, grantee, privilege_type, is_grantable)
                  WHERE (c.relnamespace IN ( SELECT schemas.oid
                           FROM schemas))
                UNION ALL
                 SELECT format('%s.%s'::text, a.attrelid::regclass, a.attname) AS format,
                    acl.grantee,
                    acl.privilege_type
                   FROM pg_attribute a
                     JOIN pg_class c ON c.oid = a.attrelid,
                    LATERAL aclexplode(a.attacl) acl(grantor, grantee, privilege_type, is_grantable)
                  WHERE (c.relnamespace IN ( SELECT schemas.oid
                           FROM schemas))
                UNION ALL
                 SELECT format('schema %I'::text, schemas.nspname) AS format,
                    acl.grantee,
                    acl.privilege_type
                   FROM schemas,
                    LATERAL aclexplode(schemas.nspacl) acl(grantor, grantee, privilege_type, is_grantable)
                  WHERE NOT (schemas.nspname = 'public'::name AND acl.privilege_type = 'USAGE'::text)) granted
          WHERE granted.grantee = 0::oid
          GROUP BY granted.object
        UNION ALL
         SELECT 'default_privilege_for_everybody'::text,
            'error'::text,
            format('%s of %s'::text, defaults.kind, pg_get_userbyid(defaults.owner)) AS format,
            'are everybody''s as soon as they are made'::text,
            'alter default privileges revoke … from public'::text
           FROM ( SELECT 'functions'::text AS kind,
                    o.nspowner AS owner
                   FROM ( SELECT DISTINCT schemas.nspowner
                           FROM schemas
                          WHERE schemas.nspname <> 'public'::name) o
                  WHERE NOT (EXISTS ( SELECT
                           FROM pg_default_acl d
                          WHERE d.defaclrole = o.nspowner AND d.defaclnamespace = 0::oid AND d.defaclobjtype = 'f'::"char"))
                UNION
                 SELECT
                        CASE d.defaclobjtype
                            WHEN 'r'::"char" THEN 'tables'::text
                            WHEN 'S'::"char" THEN 'sequences'::text
                            WHEN 'f'::"char" THEN 'functions'::text
                            WHEN 'T'::"char" THEN 'types'::text
                            ELSE 'schemas'::text
                        END AS "case",
                    d.defaclrole
                   FROM pg_default_acl d,
                    LATERAL aclexplode(d.defaclacl) acl(grantor, grantee, privilege_type, is_grantable)
                  WHERE acl.grantee = 0::oid AND d.defaclobjtype <> 'T'::"char") defaults
        UNION ALL
         SELECT 'secret_readable'::text,
            'warning'::text,
            format('%s.%s'::text, t.name, a.attname) AS format,
            format('sounds like a secret, and %s may read it'::text, string_agg(r.role, ', '::text ORDER BY r.role)) AS format,
            'Grant the other columns instead: grant select (…) on … to …'::text
           FROM tables t
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
             JOIN request_roles r ON r.kind = 'token'::text AND has_column_privilege(r.oid, t.oid, a.attnum, 'select'::text) AND NOT (EXISTS ( SELECT
                   FROM lent_roles l_1
                  WHERE l_1.borrower_id = r.oid AND has_column_privilege(l_1.lender_id, t.oid, a.attnum, 'select'::text)))
             LEFT JOIN audit.accepted k ON k.kind = 'secret_readable'::text AND k.object = format('%s.%s'::text, t.name, a.attname)
          WHERE (r.role <> ALL (COALESCE(k.hash, '{}'::text)::text[])) AND a.attname ~ '(password|passphrase|secret|token|hash|ciphertext|private_key|api_key|credential)'::text
          GROUP BY t.name, a.attname
        )
 SELECT name,
    level,
    object,
    detail,
    remedy
   FROM lints l
  WHERE name = 'secret_readable'::text OR NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = l.name AND a.object = l.object));
comment on view audit.lints is 'Mistakes in policies, functions, keys and privileges; empty when all is well.';
comment on column audit.lints.level is '`error`: somebody may see or do too much. `warning`: it invites a mistake, or costs time. `info`: it may be meant so.';

grant select on audit.lints to graph_admin;
grant select on audit.lints to graph_auditor;
