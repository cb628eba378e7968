create view audit.comment_lines with (security_invoker=true) as
 WITH schemas AS (
         SELECT pg_namespace.oid,
            pg_namespace.nspname
           FROM pg_namespace
          WHERE pg_namespace.nspname = ANY (ARRAY['app_public'::name, 'app_hidden'::name, 'oauth'::name, 'audit'::name])
        ), comments(kind, object, relation_id, object_id, is_public, comment) AS MATERIALIZED (
         SELECT 'table'::text AS "?column?",
            c.oid::regclass::text,
            c.oid,
            c.oid,
            s.nspname = 'app_public'::name AS "?column?",
            obj_description(c.oid, 'pg_class'::name) AS obj_description
           FROM pg_class c
             JOIN schemas s ON s.oid = c.relnamespace
          WHERE c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char"])
        UNION ALL
         SELECT 'column'::text,
            format('%s.%I'::text, c.oid::regclass, a.attname) AS format,
            c.oid,
            c.oid,
            s.nspname = 'app_public'::name,
            col_description(c.oid, a.attnum::integer) AS col_description
           FROM pg_class c
             JOIN schemas s ON s.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          WHERE c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char", 'c'::"char"])
        UNION ALL
         SELECT
                CASE k.contype
                    WHEN 'f'::"char" THEN 'foreign key'::text
                    ELSE 'constraint'::text
                END AS "case",
            format('%I on %s'::text, k.conname, k.conrelid::regclass) AS format,
            k.conrelid,
            k.oid,
            s.nspname = 'app_public'::name,
            obj_description(k.oid, 'pg_constraint'::name) AS obj_description
           FROM pg_constraint k
             JOIN schemas s ON s.oid = k.connamespace
          WHERE k.conrelid <> 0::oid
        UNION ALL
         SELECT 'index'::text,
            i.indexrelid::regclass::text AS indexrelid,
            i.indrelid,
            i.indexrelid,
            s.nspname = 'app_public'::name,
            obj_description(i.indexrelid, 'pg_class'::name) AS obj_description
           FROM pg_index i
             JOIN pg_class c ON c.oid = i.indexrelid
             JOIN schemas s ON s.oid = c.relnamespace
        UNION ALL
         SELECT 'function'::text,
            p.oid::regprocedure::text,
            NULL::oid,
            p.oid,
            s.nspname = 'app_public'::name,
            obj_description(p.oid, 'pg_proc'::name) AS obj_description
           FROM pg_proc p
             JOIN schemas s ON s.oid = p.pronamespace
        UNION ALL
         SELECT 'type'::text,
            t.oid::regtype::text,
            NULL::oid,
            t.oid,
            true,
            obj_description(t.oid, 'pg_type'::name) AS obj_description
           FROM pg_type t
             JOIN schemas s ON s.oid = t.typnamespace
          WHERE t.typtype = ANY (ARRAY['e'::"char", 'd'::"char", 'c'::"char", 'r'::"char"])
        ), lines AS (
         SELECT c.kind,
            c.object,
            c.relation_id,
            c.object_id,
            c.is_public,
            l.line,
            l.number,
            regexp_match(l.line, '^[ \t]*@([a-zA-Z][a-zA-Z0-9_]*)(?:\s(.*))?$'::text) AS parts,
            min(l.number) FILTER (WHERE l.line !~ '^[ \t]*@[a-zA-Z][a-zA-Z0-9_]*(\s|$)'::text AND NOT (l.number = 1 AND l.line = ''::text)) OVER (PARTITION BY c.kind, c.object) AS first_text
           FROM comments c
             CROSS JOIN LATERAL unnest(string_to_array(replace(c.comment, '
'::text, '
'::text), '
'::text)) WITH ORDINALITY l(line, number)
          WHERE c.comment ~ '@'::text
        )
 SELECT lines.kind,
    lines.object,
    lines.relation_id,
    lines.object_id,
    lines.is_public,
    COALESCE(lines.parts[1], (regexp_match(lines.line, '@([a-zA-Z][a-zA-Z0-9_]*)'::text))[1]) AS tag,
    COALESCE(lines.parts[2], ''::text) AS value,
    lines.parts IS NOT NULL AND (lines.first_text IS NULL OR lines.number < lines.first_text) AS is_tag
   FROM lines
  WHERE lines.line ~ '^[ \t]*@[a-zA-Z]'::text
UNION ALL
 SELECT
        CASE lines.parts[1]
            WHEN 'foreignKey'::text THEN 'foreign key'::text
            ELSE 'constraint'::text
        END AS kind,
    lines.object,
    lines.relation_id,
    lines.object_id,
    lines.is_public,
    COALESCE(part.part[1], m.more) AS tag,
    COALESCE(part.part[2], ''::text) AS value,
    part.part IS NOT NULL AS is_tag
   FROM lines
     CROSS JOIN LATERAL unnest(string_to_array(lines.parts[2], '|'::text)) WITH ORDINALITY m(more, "position")
     CROSS JOIN LATERAL regexp_match(m.more, '^[ \t]*@([a-zA-Z][a-zA-Z0-9_]*)(?:\s(.*))?$'::text) part(part)
  WHERE (lines.parts[1] = ANY (ARRAY['foreignKey'::text, 'primaryKey'::text, 'unique'::text])) AND (lines.first_text IS NULL OR lines.number < lines.first_text) AND m."position" > 1;
comment on view audit.comment_lines is 'The lines of comments that look like smart tags; those that stand below a description are text.';

grant select on audit.comment_lines to graph_admin;
grant select on audit.comment_lines to graph_auditor;
