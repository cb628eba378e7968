create view audit.column_lints with (security_invoker=true) as
 WITH columns AS (
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
        )
 SELECT 'column_not_readable'::text,
    'error'::text AS level,
    object,
    format('is needed by %s; %s may not read it, though other columns of the table'::text, what, roles) AS detail,
    format('grant select (%I) on %s to %s'::text, attname, relation_id::regclass, roles) COLLATE "default" AS remedy
   FROM unreadable u
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = 'column_not_readable'::text AND a.object = u.object));
comment on view audit.column_lints is 'Filters and orders that do not work for a role that may read their table; empty when all is well.';

grant select on audit.column_lints to graph_admin;
grant select on audit.column_lints to graph_auditor;
