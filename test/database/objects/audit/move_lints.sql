create view audit.move_lints with (security_invoker=true) as
 WITH stored AS (
         SELECT c.oid,
            c.oid::regclass::text COLLATE "default" AS object,
            c.relpersistence,
            c.relreplident
           FROM pg_class c
          WHERE (c.oid IN ( SELECT moved_tables.relation_id
                   FROM audit.moved_tables)) OR (c.oid IN ( SELECT p.relid
                   FROM audit.moved_tables m
                     CROSS JOIN LATERAL pg_partition_tree(m.relation_id::regclass) p(relid, parentrelid, isleaf, level)))
        ), found(object, detail, remedy) AS (
         SELECT stored.object,
            'is unlogged, and so is not replicated'::text AS "?column?",
            format('alter table %s set logged'::text, stored.object) AS format
           FROM stored
          WHERE stored.relpersistence = 'u'::"char"
        UNION ALL
         SELECT stored.object,
            'has no organization_id in the key by which logical replication tells its rows apart'::text,
            'add the column to the primary key, or give the table another replica identity that has it'::text
           FROM stored
          WHERE stored.relreplident <> 'f'::"char" AND NOT (EXISTS ( SELECT
                   FROM pg_index i
                     JOIN pg_attribute a ON a.attrelid = i.indrelid AND (a.attnum = ANY (i.indkey::smallint[])) AND a.attname = 'organization_id'::name
                  WHERE i.indrelid = stored.oid AND
                        CASE stored.relreplident
                            WHEN 'd'::"char" THEN i.indisprimary
                            WHEN 'i'::"char" THEN i.indisreplident
                            ELSE NULL::boolean
                        END))
        UNION ALL
         SELECT k.conrelid::regclass::text AS conrelid,
            format('refers to %s and has no organization_id'::text, k.confrelid::regclass) AS format,
            'add the column, and fill it'::text
           FROM pg_constraint k
             JOIN pg_class c ON c.oid = k.conrelid AND NOT c.relispartition
             JOIN pg_namespace n ON n.oid = c.relnamespace AND (n.nspname <> ALL (ARRAY['audit'::name, 'feed'::name]))
          WHERE k.contype = 'f'::"char" AND (k.confrelid IN ( SELECT moved_tables.relation_id
                   FROM audit.moved_tables)) AND NOT (EXISTS ( SELECT
                   FROM pg_attribute a
                  WHERE a.attrelid = k.conrelid AND a.attname = 'organization_id'::name AND NOT a.attisdropped))
        )
 SELECT 'table_not_movable'::text,
    'warning'::text AS level,
    object,
    detail,
    remedy COLLATE "default" AS remedy
   FROM found f;
comment on view audit.move_lints is 'Tables with which no organization can be moved to another database, those that are accepted included; empty when all is well.';

grant select on audit.move_lints to graph_admin;
grant select on audit.move_lints to graph_auditor;
