create view audit.bypasses with (security_invoker=true) as
 WITH main_owner AS (
         SELECT pg_namespace.nspowner AS oid
           FROM pg_namespace
          WHERE pg_namespace.nspname = 'app_public'::name
        ), request_roles AS (
         SELECT request_roles.role_id AS oid
           FROM audit.request_roles
        ), memberships AS (
         SELECT member.oid AS member_id,
            member.rolname AS member,
            ours.oid,
            ours.rolname,
            member.rolcanlogin
           FROM pg_roles member
             JOIN pg_roles ours ON ours.oid <> member.oid AND ((ours.rolname ~~ 'graph\_%'::text OR (ours.oid IN ( SELECT request_roles.oid
                   FROM request_roles))) AND NOT ours.rolcanlogin OR ours.rolname ~~ 'pg\_%'::text AND (member.oid IN ( SELECT request_roles.oid
                   FROM request_roles)))
          WHERE NOT member.rolsuper AND pg_has_role(member.oid, ours.oid, 'member'::text) AND NOT (EXISTS ( SELECT
                   FROM audit.lent_roles l
                  WHERE l.lender_id = ours.oid AND l.borrower_id <> member.oid AND pg_has_role(member.oid, l.borrower_id, 'member'::text)))
        ), authenticators AS (
         SELECT m.member_id AS oid
           FROM memberships m
          WHERE m.rolcanlogin AND NOT (EXISTS ( SELECT
                   FROM pg_shdepend d
                  WHERE d.refclassid = 'pg_authid'::regclass::oid AND d.refobjid = m.member_id AND d.deptype = 'o'::"char"))
          GROUP BY m.member_id
         HAVING bool_and((m.oid IN ( SELECT request_roles.oid
                   FROM request_roles))) AND bool_and(NOT pg_has_role(m.member_id, m.oid, 'usage'::text))
        ), found AS (
         SELECT r.kind,
            r.name AS object,
            r.owner::text AS who,
                CASE r.row_security
                    WHEN 'off'::text THEN 'row-level security is off'::text
                    WHEN 'on, not forced'::text THEN 'row-level security is not forced on the owner'::text
                    ELSE 'has no row-level security of its own'::text
                END AS how,
            NULL::text AS expected
           FROM audit.relations r
          WHERE r.row_security <> 'forced'::text OR (r.kind = ANY (ARRAY['materialized view'::text, 'foreign table'::text]))
        UNION ALL
         SELECT 'owner'::text,
                CASE r.owner
                    WHEN ( SELECT main_owner.oid
                       FROM main_owner) THEN 'tables'::text
                    ELSE string_agg(r.name, ', '::text ORDER BY r.name)
                END AS string_agg,
            r.owner::text AS owner,
            'may switch row-level security off and change policies'::text,
                CASE
                    WHEN r.owner::oid = (( SELECT main_owner.oid
                       FROM main_owner)) AND NOT (r.owner::oid IN ( SELECT request_roles.oid
                       FROM request_roles
                    UNION ALL
                     SELECT authenticators.oid
                       FROM authenticators)) THEN 'Somebody has to own the tables; no request comes as the owner.'::text
                    ELSE NULL::text
                END AS "case"
           FROM audit.relations r
          WHERE r.kind <> 'view'::text
          GROUP BY r.owner
        UNION ALL
         SELECT 'power'::text,
            COALESCE(roles.powers, ''::text) AS "coalesce",
            roles.rolname,
            'passes by row-level security, or reads the files below it'::text,
                CASE
                    WHEN roles.rolsuper AND NOT (EXISTS ( SELECT
                       FROM request_roles q
                      WHERE pg_has_role(q.oid, roles.oid, 'member'::text)
                    UNION ALL
                     SELECT
                       FROM authenticators a_1
                      WHERE pg_has_role(a_1.oid, roles.oid, 'member'::text))) THEN 'A cluster has a superuser; no request can become it.'::text
                    ELSE NULL::text
                END AS "case"
           FROM ( SELECT r.oid,
                    r.rolname,
                    r.rolsuper,
                    concat_ws(', '::text,
                        CASE
                            WHEN r.rolsuper THEN 'superuser'::text
                            ELSE NULL::text
                        END,
                        CASE
                            WHEN r.rolbypassrls AND NOT r.rolsuper THEN 'bypassrls'::text
                            ELSE NULL::text
                        END,
                        CASE
                            WHEN r.rolreplication AND NOT r.rolsuper THEN 'replication'::text
                            ELSE NULL::text
                        END, ( SELECT string_agg(p.rolname::text, ', '::text ORDER BY (p.rolname::text)) AS string_agg
                           FROM pg_roles p
                          WHERE (p.rolname = ANY (ARRAY['pg_read_server_files'::name, 'pg_write_server_files'::name, 'pg_execute_server_program'::name])) AND p.oid <> r.oid AND NOT r.rolsuper AND pg_has_role(r.oid, p.oid, 'member'::text))) AS powers
                   FROM pg_roles r
                  WHERE r.rolname !~ '^pg_'::text) roles
          WHERE roles.powers <> ''::text
        UNION ALL
         SELECT 'set role'::text,
            memberships.rolname,
            memberships.member,
                CASE
                    WHEN memberships.rolcanlogin THEN 'logs in and may become it'::text
                    ELSE 'may become it'::text
                END AS "case",
                CASE
                    WHEN memberships.member_id = (( SELECT main_owner.oid
                       FROM main_owner)) THEN 'The owner works as graph_admin, and becomes a caller to see what that one sees.'::text
                    WHEN memberships.rolname = 'graph_auditor'::name THEN 'An auditor.'::text
                    WHEN (memberships.member_id IN ( SELECT authenticators.oid
                       FROM authenticators)) THEN 'The server''s login role becomes what a token says, and is nothing by itself.'::text
                    ELSE NULL::text
                END AS "case"
           FROM memberships
        UNION ALL
         SELECT 'definer'::text,
            f_1.name,
            COALESCE(NULLIF(array_to_string(f_1.callers, ', '::text), ''::text), 'nobody'::text) AS "coalesce",
            format('runs with the rights of %s'::text, f_1.owner) AS format,
            NULL::text
           FROM audit.functions f_1
          WHERE f_1.definer
        UNION ALL
         SELECT 'view'::text,
            r.name,
            COALESCE(( SELECT string_agg(m.role, ', '::text ORDER BY m.role) AS string_agg
                   FROM audit.roles m
                  WHERE has_any_column_privilege(m.role::name, r.relation::oid, 'select'::text)), 'nobody'::text) AS "coalesce",
            format('reads with the rights of %s'::text, r.owner) AS format,
            NULL::text
           FROM audit.relations r
             JOIN pg_class c ON c.oid = r.relation::oid
          WHERE r.kind = 'view'::text AND NOT COALESCE(( SELECT pg_options_to_table.option_value::boolean AS option_value
                   FROM pg_options_to_table(c.reloptions) pg_options_to_table(option_name, option_value)
                  WHERE pg_options_to_table.option_name = 'security_invoker'::text), false)
        UNION ALL
         SELECT 'rule'::text,
            format('%I on %s'::text, w.rulename, r.name) AS format,
            r.owner::text AS owner,
            'works with the rights of its table''s owner'::text,
            NULL::text
           FROM pg_rewrite w
             JOIN audit.relations r ON r.relation::oid = w.ev_class
          WHERE w.ev_type <> '1'::"char"
        UNION ALL
         SELECT 'privilege'::text,
            r.name,
                CASE acl.grantee
                    WHEN 0 THEN 'public'::text
                    ELSE pg_get_userbyid(acl.grantee)::text
                END AS pg_get_userbyid,
            format('may %s, which asks no policy'::text, lower(acl.privilege_type)) AS format,
            NULL::text
           FROM audit.relations r
             JOIN pg_class c ON c.oid = r.relation::oid,
            LATERAL aclexplode(c.relacl) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE acl.grantee <> c.relowner AND (acl.privilege_type <> ALL (ARRAY['SELECT'::text, 'INSERT'::text, 'UPDATE'::text, 'DELETE'::text]))
        UNION ALL
         SELECT 'publication'::text,
            r.name,
            p.pubname,
            'sends every row to its subscribers'::text,
            NULL::text
           FROM pg_publication_tables p
             JOIN audit.relations r ON r.name = format('%I.%I'::text, p.schemaname, p.tablename)
        UNION ALL
         SELECT 'leakproof'::text,
            f_1.name,
            f_1.owner::text AS owner,
            'may be asked about rows before their policies are'::text,
            NULL::text
           FROM audit.functions f_1
             JOIN pg_proc p ON p.oid = f_1.function
          WHERE p.proleakproof
        UNION ALL
         SELECT 'parameter'::text,
            pg_parameter_acl.parname,
            pg_get_userbyid(acl.grantee)::text AS pg_get_userbyid,
            'may switch triggers off for a session, and the history with them'::text,
            NULL::text
           FROM pg_parameter_acl,
            LATERAL aclexplode(pg_parameter_acl.paracl) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE pg_parameter_acl.parname = 'session_replication_role'::text AND acl.grantee <> 10::oid
        UNION ALL
         SELECT 'history'::text,
            r.name,
            'everybody'::text,
            'changes it without a trace'::text,
            NULL::text
           FROM audit.relations r
             JOIN pg_class c ON c.oid = r.relation::oid
          WHERE (r.kind = ANY (ARRAY['table'::text, 'partition'::text])) AND c.relnamespace <> 'audit'::regnamespace::oid AND (EXISTS ( SELECT
                   FROM pg_attribute a_1
                  WHERE a_1.attrelid = r.relation::oid AND a_1.attname = 'organization_id'::name AND NOT a_1.attisdropped)) AND (( SELECT COALESCE(bit_or(t.tgtype::integer & 28), 0) AS "coalesce"
                   FROM pg_trigger t
                     JOIN pg_proc p ON p.oid = t.tgfoid
                  WHERE t.tgrelid = r.relation::oid AND (t.tgenabled = ANY (ARRAY['O'::"char", 'A'::"char"])) AND p.pronamespace = 'audit'::regnamespace::oid AND (p.proname = ANY (ARRAY['record_rows'::name, 'record_update'::name, 'record_updates'::name])) AND (c.relkind <> 'p'::"char" OR (t.tgtype::integer & 1) = 1))) < 28
        UNION ALL
         SELECT DISTINCT 'secret'::text,
            format('%s.%I'::text, r.name, a_1.attname) AS format,
            'graph_auditor'::text,
            'reads its values in the history'::text,
            NULL::text
           FROM pg_trigger t
             JOIN pg_proc p ON p.oid = t.tgfoid
             JOIN audit.relations r ON r.relation::oid = t.tgrelid
             JOIN pg_attribute a_1 ON a_1.attrelid = t.tgrelid AND a_1.attnum > 0 AND NOT a_1.attisdropped
             LEFT JOIN pg_trigger named ON named.tgrelid = t.tgrelid AND named.tgname = 'audit_columns'::name
          WHERE p.pronamespace = 'audit'::regnamespace::oid AND (p.proname = ANY (ARRAY['record_rows'::name, 'record_update'::name, 'record_updates'::name])) AND r.kind <> 'partition'::text AND a_1.attname ~ '(secret|password|passphrase|token|hash|cipher)'::text AND substr(encode(t.tgargs, 'escape'::text), 1 + array_position(named.tgattr::smallint[], a_1.attnum), 1) IS DISTINCT FROM 's'::text
        )
 SELECT f.kind,
    f.object,
    f.who,
    f.how,
    COALESCE(f.expected, a.reason) IS NOT NULL AS known,
    COALESCE(f.expected, a.reason) AS reason
   FROM found f
     LEFT JOIN LATERAL ( SELECT accepted.reason
           FROM audit.accepted
          WHERE accepted.kind = f.kind AND accepted.object = f.object AND (accepted.who = f.who OR (f.kind = ANY (ARRAY['table'::text, 'partition'::text, 'materialized view'::text, 'foreign table'::text, 'rule'::text, 'leakproof'::text])))
          ORDER BY (accepted.who <> f.who)
         LIMIT 1) a ON true;
comment on view audit.bypasses is 'Everything that escapes row-level security or the history, and why it may.';
comment on column audit.bypasses.known is 'Whether it is as this service needs it, or somebody has accepted it; everything else is a finding.';

grant select on audit.bypasses to graph_admin;
grant select on audit.bypasses to graph_auditor;
