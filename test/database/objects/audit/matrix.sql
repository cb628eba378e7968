create view audit.matrix with (security_invoker=true) as
 WITH beyond AS MATERIALIZED (
         SELECT unaccepted_rights.object,
            unaccepted_rights.who_id,
            unaccepted_rights.who,
            unaccepted_rights.command,
            unaccepted_rights.columns,
            unaccepted_rights.accepted_columns
           FROM audit.unaccepted_rights
        ), effective AS (
         SELECT r.relation,
            r.name,
            r.kind,
            r.row_security,
            roles.role_id,
            roles.role,
            command.command,
            has_table_privilege(roles.role::name, r.relation::oid, command.command) AS whole,
            ARRAY( SELECT a.attname::text AS attname
                   FROM pg_attribute a
                  WHERE a.attrelid = r.relation::oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(roles.role::name, r.relation::oid, a.attnum, NULLIF(command.command, 'delete'::text))
                  ORDER BY a.attnum) AS columns
           FROM audit.relations r
             CROSS JOIN audit.roles roles
             CROSS JOIN unnest(ARRAY['select'::text, 'insert'::text, 'update'::text, 'delete'::text]) command(command)
        )
 SELECT e.relation,
    e.kind,
    e.command,
    e.role,
    e.whole OR e.columns <> '{}'::text[] AS granted,
        CASE
            WHEN e.whole THEN '{}'::text[]
            ELSE e.columns
        END AS columns,
    e.row_security,
    p.policies,
        CASE
            WHEN b.rights IS NULL THEN p.rules
            ELSE ARRAY( SELECT concat(rule.rule, ' It was written without this right: ', b.rights, '.') AS concat
               FROM unnest(p.rules) rule(rule))
        END AS rules,
    ARRAY( SELECT a.attname::text AS attname
           FROM pg_attribute a
          WHERE a.attrelid = e.relation::oid AND a.attnum > 0 AND NOT a.attisdropped AND col_description(a.attrelid, a.attnum::integer) ~ '(^|\n)[ \t]*@personalData(\s|$)'::text AND (e.whole OR (a.attname = ANY (e.columns)))
          ORDER BY a.attnum) AS personal
   FROM effective e
     CROSS JOIN LATERAL ( SELECT string_agg(concat(u.command, (' ('::text || u.columns) || ')'::text, ' to '::text || NULLIF(u.who, e.role)), ', '::text ORDER BY u.command, u.who) AS rights
           FROM beyond u
          WHERE u.object = e.name AND u.command ^@ e.command AND ((u.who_id = ANY (ARRAY[0::oid, e.role_id])) OR e.role_id <> 0::oid AND pg_has_role(e.role_id, u.who_id, 'usage'::text))) b
     CROSS JOIN LATERAL ( SELECT COALESCE(array_agg(p_1.policy::text ORDER BY p_1.policy), '{}'::text[]) AS policies,
            COALESCE(array_agg(p_1.rule ORDER BY p_1.policy), '{}'::text[]) AS rules
           FROM audit.policies p_1
          WHERE p_1.relation::oid = e.relation::oid AND (p_1.command = ANY (ARRAY[e.command, 'all'::text])) AND (EXISTS ( SELECT
                   FROM unnest(p_1.role_ids) named(named)
                  WHERE (named.named = ANY (ARRAY[0::oid, e.role_id])) OR e.role_id <> 0::oid AND pg_has_role(e.role_id, named.named, 'usage'::text)))) p;
comment on view audit.matrix is 'Every table and view, command and role: what is granted, and the policies that decide about rows.';
comment on column audit.matrix.granted is 'Whether the role may give the command at all; the policies then say for which rows.';
comment on column audit.matrix.columns is 'The columns that are granted; empty when all are, or none.';
comment on column audit.matrix.row_security is '`forced` on the owner, too; `off` means that policies decide nothing. Null for views, which ask the policies of their tables.';
comment on column audit.matrix.rules is 'The policies in plain English, by their names, with rights that they did not count with. Without one the command finds no row.';
comment on column audit.matrix.personal is 'The columns with personal data, by the tag @personalData, that the role may give the command for; of a delete those of the row.';

grant select on audit.matrix to graph_admin;
grant select on audit.matrix to graph_auditor;
