create view audit.findings with (security_invoker=true) as
 WITH memberships AS (
         SELECT member.oid,
            member.rolname,
            ours.role AS request_role,
            ours.kind,
            (EXISTS ( SELECT
                   FROM audit.accepted a
                  WHERE a.kind = 'authenticator_not_named'::text AND a.object = member.rolname)) AS is_named
           FROM pg_roles member
             JOIN audit.request_roles ours ON pg_has_role(member.oid, ours.role_id, 'member'::text)
          WHERE member.rolcanlogin AND NOT member.rolsuper AND NOT pg_has_role(member.oid, ( SELECT pg_namespace.nspowner
                   FROM pg_namespace
                  WHERE pg_namespace.nspname = 'app_public'::name), 'member'::text)
        ), authenticators AS (
         SELECT memberships.oid,
            memberships.rolname,
            bool_or(memberships.kind <> 'token'::text) AS of_oauth,
            bool_or(memberships.kind = 'token'::text) AS of_graph
           FROM memberships
          WHERE memberships.is_named
          GROUP BY memberships.oid, memberships.rolname
        ), found(name, level, object, detail, remedy) AS (
         SELECT 'authenticator_not_named'::text AS "?column?",
                CASE
                    WHEN has_database_privilege(memberships.oid, ( SELECT d.oid
                       FROM pg_database d
                      WHERE d.datname = current_database()), 'connect'::text) THEN 'error'::text
                    ELSE 'warning'::text
                END AS "case",
            memberships.rolname::text AS rolname,
            format('%s may become %s, and is not the role of AUTH_DATABASE_URL or OAUTH_DATABASE_URL'::text, memberships.rolname, string_agg(memberships.request_role, ', '::text ORDER BY memberships.request_role)) AS format,
            'drop role …, or revoke … from …; if it is the server''s: npm run db:migrate with its URL.'::text AS "?column?"
           FROM memberships
          GROUP BY memberships.oid, memberships.rolname
        UNION ALL
         SELECT 'authenticator_setting'::text,
            'error'::text,
            authenticators.rolname::text AS rolname,
            format('begins each session with %s'::text, array_to_string(pg_db_role_setting.setconfig, ', '::text)) AS format,
            'Nothing of the service sets it: find out who did, then alter role … reset all, and alter role … in database … reset all.'::text
           FROM authenticators
             JOIN pg_db_role_setting ON pg_db_role_setting.setrole = authenticators.oid AND (pg_db_role_setting.setdatabase = ANY (ARRAY[0::oid, ( SELECT pg_database.oid
                   FROM pg_database
                  WHERE pg_database.datname = current_database())]))
        UNION ALL
         SELECT 'authenticator_of_both'::text,
            'warning'::text,
            authenticators.rolname::text AS rolname,
            'may become the GraphQL and the OAuth server, though another role is for one of them'::text,
            'When every server has OAUTH_DATABASE_URL: npm run db:migrate while none is connected, or revoke what it does not need.'::text
           FROM authenticators
          WHERE authenticators.of_oauth AND authenticators.of_graph AND (EXISTS ( SELECT
                   FROM authenticators authenticators_1
                  WHERE authenticators_1.of_oauth <> authenticators_1.of_graph))
        UNION ALL
         SELECT 'partition_default'::text,
            'warning'::text,
            partition_state.relation || '_default'::text,
            format('has %s rows of a time that no partition is for'::text, partition_state.in_default) AS format,
            'npm run -s admin -- purge makes the partitions. Find out whose clock was wrong, or why there was no purge.'::text
           FROM oauth.partition_state() partition_state(relation, since, until, in_default)
          WHERE partition_state.in_default > 0
        UNION ALL
         SELECT 'partition_missing'::text,
            'error'::text,
            partition_state.relation,
            format('has partitions until %s alone'::text, partition_state.until) AS format,
            'npm run -s admin -- purge makes the next. The log of the service says why it did not.'::text
           FROM oauth.partition_state() partition_state(relation, since, until, in_default)
          WHERE partition_state.until < (statement_timestamp() + '1 day'::interval)
        UNION ALL
         SELECT 'recorder_out_of_date'::text,
            'error'::text,
            r.name,
            'is recorded, and lost its trigger audit_columns: each write fails'::text,
            format('select audit.record(%L, secrets => …), with all that it was given'::text, r.name) AS format
           FROM pg_trigger t
             JOIN audit.relations r ON r.relation::oid = t.tgrelid
          WHERE t.tgfoid = 'audit.record_update'::regproc::oid AND t.tgparentid = 0::oid AND length("substring"(encode(t.tgargs, 'escape'::text), '^[a-z]*'::text)) <> COALESCE(( SELECT cardinality(m.tgattr::smallint[]) AS cardinality
                   FROM pg_trigger m
                  WHERE m.tgrelid = t.tgrelid AND m.tgname = 'audit_columns'::name), 0)
        UNION ALL
         SELECT 'recorder_out_of_date'::text,
            'error'::text,
            r.name,
            'is followed by a name, by columns or by a key that it no longer has'::text,
            format('select feed.follow(%L), and `shown` and `ignored` where they are no longer right'::text, r.name) AS format
           FROM pg_trigger t
             JOIN audit.relations r ON r.relation::oid = t.tgrelid
             CROSS JOIN LATERAL ( SELECT array_agg(convert_from(decode(parts.part, 'escape'::text), 'UTF8'::name) ORDER BY parts.place) AS names
                   FROM unnest(string_to_array(encode(t.tgargs, 'escape'::text), '\000'::text)) WITH ORDINALITY parts(part, place)
                  WHERE parts.place <= t.tgnargs) given
          WHERE t.tgfoid = 'feed.record_update'::regproc::oid AND t.tgparentid = 0::oid AND (NOT (EXISTS ( SELECT
                   FROM pg_class c
                     JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE format('%I.%I'::text, n.nspname, c.relname) = given.names[1] AND (c.oid = t.tgrelid OR c.relkind = 'v'::"char"))) OR given.names[5:] IS DISTINCT FROM (ARRAY( SELECT a.attname::text AS attname
                   FROM pg_index i
                     CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k(number, place)
                     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
                  WHERE i.indrelid = t.tgrelid AND i.indisprimary AND k.place <= i.indnkeyatts AND a.attname <> 'organization_id'::name
                  ORDER BY k.place)) OR (EXISTS ( SELECT
                   FROM unnest(array_remove(given.names[2] || given.names[4]::text[], ''::text)) name(name)
                  WHERE NOT (name.name IN ( SELECT a.attname
                           FROM pg_attribute a
                          WHERE a.attrelid = t.tgrelid AND a.attnum > 0)))) OR given.names[3]::integer <> COALESCE(( SELECT cardinality(m.tgattr::smallint[]) AS cardinality
                   FROM pg_trigger m
                  WHERE m.tgrelid = t.tgrelid AND m.tgname = 'follow_columns'::name), 0))
        )
 SELECT lints.name,
    lints.level,
    lints.object,
    lints.detail,
    lints.remedy
   FROM audit.lints
  WHERE NOT (lints.object IN ( SELECT pg_depend.objid::regprocedure::text AS objid
           FROM pg_depend
          WHERE pg_depend.classid = 'pg_proc'::regclass::oid AND pg_depend.deptype = 'i'::"char"))
UNION ALL
 SELECT graph_lints.name,
    graph_lints.level,
    graph_lints.object,
    graph_lints.detail,
    graph_lints.remedy
   FROM audit.graph_lints
UNION ALL
 SELECT claim_lints.name,
    claim_lints.level,
    claim_lints.object,
    claim_lints.detail,
    claim_lints.remedy
   FROM audit.claim_lints
UNION ALL
 SELECT column_lints.name,
    column_lints.level,
    column_lints.object,
    column_lints.detail,
    column_lints.remedy
   FROM audit.column_lints
UNION ALL
 SELECT l.name,
    l.level,
    l.object,
    l.detail,
    l.remedy
   FROM ( SELECT right_lints.name,
            right_lints.level,
            right_lints.object,
            right_lints.detail,
            right_lints.remedy
           FROM audit.right_lints
        UNION ALL
         SELECT move_lints.name,
            move_lints.level,
            move_lints.object,
            move_lints.detail,
            move_lints.remedy
           FROM audit.move_lints) l
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = l.name AND a.object = l.object))
UNION ALL
 SELECT 'right_not_accepted'::text,
    'error'::text AS level,
    unaccepted_rights.object,
    format('%s may %s %s, which this version does not grant'::text, unaccepted_rights.who, unaccepted_rights.command, COALESCE(('('::text || unaccepted_rights.columns) || ')'::text, 'all of it'::text)) AS detail,
    concat('revoke ', plain.plain, (' ('::text || unaccepted_rights.columns) || ')'::text, ' on ', unaccepted_rights.object, ' from ', quote_ident(unaccepted_rights.who), (((((('; grant '::text || plain.plain) || ' ('::text) || unaccepted_rights.accepted_columns) || ') on '::text) || unaccepted_rights.object) || ' to '::text) || quote_ident(unaccepted_rights.who), format('; or accept it: insert into audit.accepted (kind, object, who, reason) values (''right'', %L, %L, …)'::text, unaccepted_rights.object, unaccepted_rights.who)) AS remedy
   FROM audit.unaccepted_rights,
    LATERAL regexp_replace(unaccepted_rights.command, '^(.*) with grant option$'::text, 'grant option for \1'::text) plain(plain)
  WHERE unaccepted_rights.who_id <> 0::oid AND (unaccepted_rights.columns IS NOT NULL OR unaccepted_rights.command !~ '^(truncate|references|trigger|maintain)'::text)
UNION ALL
 SELECT 'bypass_'::text || replace(bypasses.kind, ' '::text, '_'::text) AS name,
        CASE bypasses.kind
            WHEN 'history'::text THEN 'warning'::text
            ELSE 'error'::text
        END AS level,
    bypasses.object,
    format('%s %s'::text, bypasses.who, bypasses.how) AS detail,
        CASE bypasses.kind
            WHEN 'history'::text THEN 'select audit.record(…)'::text
            WHEN 'set role'::text THEN format('revoke %I from %I'::text, bypasses.object, bypasses.who)
            ELSE 'Take the right away'::text
        END || '; or insert kind, object, who and the reason into audit.accepted.'::text AS remedy
   FROM audit.bypasses
  WHERE NOT bypasses.known AND (bypasses.kind <> ALL (ARRAY['table'::text, 'partition'::text, 'materialized view'::text, 'foreign table'::text, 'definer'::text, 'view'::text]))
UNION ALL
 SELECT f.name,
    f.level,
    f.object,
    f.detail,
    f.remedy
   FROM found f
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = f.name AND a.object = f.object));
comment on view audit.findings is 'What should be looked at; empty when all is well.';

grant select on audit.findings to graph_admin;
grant select on audit.findings to graph_auditor;
