create view audit.column_lints with (security_invoker=true) as
 WITH RECURSIVE columns AS (
         SELECT c.oid AS relation_id,
            c.relkind,
            a.attname,
            a.attnum,
            format('%s.%I'::text, c.oid::regclass, a.attname) AS object
           FROM pg_class c
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          WHERE c.relnamespace = 'app_public'::regnamespace::oid AND (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char"])) AND NOT c.relispartition AND a.attname <> 'organization_id'::name
        ), tags AS MATERIALIZED (
         SELECT comment_lines.kind,
            comment_lines.object,
            comment_lines.object_id,
            comment_lines.tag,
            comment_lines.value
           FROM audit.comment_lines
          WHERE (comment_lines.kind = ANY (ARRAY['column'::text, 'constraint'::text])) AND comment_lines.is_tag AND (comment_lines.tag = ANY (ARRAY['filter'::text, 'behavior'::text]))
        ), offered AS (
         SELECT c.relation_id,
            c.relkind,
            c.attname,
            c.attnum,
            c.object,
            'the filter '::text || split_part(TRIM(BOTH FROM t.value), ' '::text, 1) AS what
           FROM columns c
             JOIN tags t ON t.object = c.object AND t.kind = 'column'::text AND t.tag = 'filter'::text
        UNION ALL
         SELECT c.relation_id,
            c.relkind,
            c.attname,
            c.attnum,
            c.object,
            'the filter '::text || split_part(TRIM(BOTH FROM t.value), ' '::text, 1)
           FROM columns c
             JOIN pg_constraint k ON k.conrelid = c.relation_id AND (c.attnum = ANY (k.conkey))
             JOIN tags t ON t.object_id = k.oid AND t.kind = 'constraint'::text AND t.tag = 'filter'::text
        UNION ALL
         SELECT c.relation_id,
            c.relkind,
            c.attname,
            c.attnum,
            c.object,
            'the filter externalIdentifiers'::text
           FROM columns c
          WHERE c.attname = 'external_identifier'::name
        UNION ALL
         SELECT c.relation_id,
            c.relkind,
            c.attname,
            c.attnum,
            c.object,
            'an order'::text
           FROM columns c
          WHERE ((c.relkind = ANY (ARRAY['v'::"char", 'm'::"char"])) OR (EXISTS ( SELECT
                   FROM pg_index i
                     JOIN pg_class index ON index.oid = i.indexrelid
                     JOIN pg_am ON pg_am.oid = index.relam AND pg_am.amname = 'btree'::name
                  WHERE i.indrelid = c.relation_id AND i.indpred IS NULL AND (c.attnum = ANY (i.indkey::smallint[]))))) AND NOT (EXISTS ( SELECT
                   FROM tags t
                  WHERE t.object = c.object AND t.tag = 'behavior'::text AND t.value ~ '(^|\s)-(\*|(attribute:)?orderBy)(\s|$)'::text))
        ), unreadable AS (
         SELECT o.object,
            o.relation_id,
            o.attname,
            string_agg(DISTINCT o.what, ' and '::text) AS what,
            string_agg(DISTINCT r.role, ', '::text) AS roles
           FROM offered o
             JOIN audit.request_roles r ON r.kind = 'token'::text
          WHERE has_any_column_privilege(r.role_id, o.relation_id, 'select'::text) AND NOT has_column_privilege(r.role_id, o.relation_id, o.attnum, 'select'::text)
          GROUP BY o.object, o.relation_id, o.attname
        ), bases AS (
         SELECT c.object,
            c.relation_id,
            c.attnum,
            a.atttypid AS type_id,
            false AS is_element
           FROM columns c
             JOIN pg_attribute a ON a.attrelid = c.relation_id AND a.attnum = c.attnum
        UNION ALL
         SELECT b.object,
            b.relation_id,
            b.attnum,
                CASE t.typtype
                    WHEN 'd'::"char" THEN t.typbasetype
                    ELSE t.typelem
                END AS typelem,
            b.is_element OR t.typtype <> 'd'::"char"
           FROM bases b
             JOIN pg_type t ON t.oid = b.type_id AND (t.typtype = 'd'::"char" OR t.typcategory = 'A'::"char")
        ), operators AS (
         SELECT b.object,
            b.relation_id,
            b.attnum,
            b.type_id,
            o.oprcode AS function_id,
            o.oprnamespace AS schema_id
           FROM bases b
             JOIN pg_opclass c ON c.opcintype = b.type_id AND c.opcdefault
             JOIN pg_am ON pg_am.oid = c.opcmethod AND pg_am.amname = 'btree'::name
             JOIN pg_amop m ON m.amopfamily = c.opcfamily AND m.amoplefttype = b.type_id AND m.amoprighttype = b.type_id
             JOIN pg_operator o ON o.oid = m.amopopr
          WHERE NOT b.is_element AND o.oprnamespace <> 'pg_catalog'::regnamespace::oid AND ((b.object IN ( SELECT offered.object
                   FROM offered)) OR (EXISTS ( SELECT
                   FROM pg_constraint k
                  WHERE k.conrelid = b.relation_id AND (k.contype = ANY (ARRAY['p'::"char", 'u'::"char", 'f'::"char"])) AND (b.attnum = ANY (k.conkey)))))
        ), expressions(relation_id, class_id, id, commands, roles) AS (
         SELECT k.conrelid,
            'pg_constraint'::regclass,
            k.oid,
            '{insert,update}'::text[],
            NULL::oid[]
           FROM pg_constraint k
          WHERE k.contype = 'c'::"char"
        UNION ALL
         SELECT b.relation_id,
            'pg_constraint'::regclass,
            k.oid,
            '{insert,update}'::text[],
            NULL::oid[]
           FROM bases b
             JOIN pg_constraint k ON k.contypid = b.type_id
        UNION ALL
         SELECT d.adrelid,
            'pg_attrdef'::regclass,
            d.oid,
            '{insert,update}'::text[],
            NULL::oid[]
           FROM pg_attrdef d
        UNION ALL
         SELECT i.indrelid,
            'pg_class'::regclass,
            i.indexrelid,
            '{insert,update}'::text[],
            NULL::oid[]
           FROM pg_index i
        UNION ALL
         SELECT p.polrelid,
            'pg_policy'::regclass,
            p.oid,
            '{select,insert,update}'::text[],
            p.polroles
           FROM pg_policy p
        UNION ALL
         SELECT r.ev_class,
            'pg_rewrite'::regclass,
            r.oid,
            '{select}'::text[],
            NULL::oid[]
           FROM pg_rewrite r
        ), needed AS (
         SELECT o.object,
            o.function_id::oid AS function_id,
            r.role
           FROM operators o
             JOIN audit.request_roles r ON r.kind = 'token'::text AND has_column_privilege(r.role_id, o.relation_id, o.attnum, 'select'::text)
          WHERE NOT has_function_privilege(r.role_id, o.function_id::oid, 'execute'::text)
        UNION
         SELECT b.object,
            f.function_id::oid AS function_id,
            r.role
           FROM bases b
             JOIN pg_type t ON t.oid = b.type_id AND t.typtype = 'b'::"char" AND t.typcategory <> 'A'::"char"
             CROSS JOIN LATERAL ( VALUES (t.typoutput,'select'::text), (t.typinput,'insert'::text), (t.typinput,'update'::text)) f(function_id, command)
             JOIN audit.request_roles r ON r.kind = 'token'::text AND has_column_privilege(r.role_id, b.relation_id, b.attnum, f.command)
          WHERE NOT has_function_privilege(r.role_id, f.function_id::oid, 'execute'::text) AND NOT (EXISTS ( SELECT
                   FROM pg_cast k
                  WHERE k.castsource = t.oid AND k.casttarget = 'text'::regtype::oid AND k.castmethod = 'b'::"char"))
        UNION
         SELECT e.relation_id::regclass::text AS relation_id,
            p.oid,
            r.role
           FROM expressions e
             JOIN pg_depend d ON d.classid = e.class_id::oid AND d.objid = e.id
             LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass::oid AND o.oid = d.refobjid
             JOIN pg_proc p ON p.oid =
                CASE
                    WHEN d.refclassid = 'pg_proc'::regclass::oid THEN d.refobjid::regproc
                    ELSE o.oprcode
                END::oid
             JOIN audit.request_roles r ON r.kind = 'token'::text AND (e.roles IS NULL OR (0::oid = ANY (e.roles)) OR (r.role_id = ANY (e.roles)))
          WHERE (e.relation_id IN ( SELECT columns.relation_id
                   FROM columns)) AND has_any_column_privilege(r.role_id, e.relation_id, array_to_string(e.commands, ','::text)) AND NOT has_function_privilege(r.role_id, p.oid, 'execute'::text)
        ), lints(name, level, object, detail, remedy) AS (
         SELECT 'column_not_readable'::text AS "?column?",
            'error'::text AS "?column?",
            u.object,
            format('is needed by %s; %s may not read it, though other columns of the table'::text, u.what, u.roles) AS format,
            format('grant select (%I) on %s to %s'::text, u.attname, u.relation_id::regclass, u.roles) AS format
           FROM unreadable u
        UNION ALL
         SELECT 'function_not_executable'::text,
            'error'::text,
            n.object,
            format('needs functions that %s may not call'::text, string_agg(DISTINCT n.role, ', '::text)) AS format,
            format('grant execute on function %s to %s'::text, string_agg(DISTINCT n.function_id::regprocedure::text, ', '::text), string_agg(DISTINCT n.role, ', '::text)) AS format
           FROM needed n
          GROUP BY n.object
        UNION ALL
         SELECT DISTINCT 'operator_not_found'::text,
            'error'::text,
            o.object,
            format('is of %s, whose operators are in %s, where no request looks'::text, o.type_id::regtype, o.schema_id::regnamespace) AS format,
            COALESCE(( SELECT format('alter extension %I set schema public'::text, e.extname) AS format
                   FROM pg_depend d
                     JOIN pg_extension e ON e.oid = d.refobjid
                  WHERE d.classid = 'pg_type'::regclass::oid AND d.objid = o.type_id AND d.deptype = 'e'::"char"), 'alter operator … set schema public'::text) AS "coalesce"
           FROM operators o
          WHERE o.schema_id IS DISTINCT FROM to_regnamespace('public'::text)::oid
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
comment on view audit.column_lints is 'Filters, orders and expressions that do not work for a role that may use their table; empty when all is well.';

grant select on audit.column_lints to graph_admin;
grant select on audit.column_lints to graph_auditor;
