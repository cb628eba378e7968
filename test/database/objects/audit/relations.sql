create view audit.relations with (security_invoker=true) as
 SELECT c.oid::regclass AS relation,
        CASE
            WHEN c.relispartition THEN 'partition'::text
            ELSE
            CASE c.relkind
                WHEN 'v'::"char" THEN 'view'::text
                WHEN 'm'::"char" THEN 'materialized view'::text
                WHEN 'f'::"char" THEN 'foreign table'::text
                ELSE 'table'::text
            END
        END AS kind,
    c.relowner::regrole AS owner,
        CASE
            WHEN c.relkind <> ALL (ARRAY['r'::"char", 'p'::"char"]) THEN NULL::text
            WHEN NOT c.relrowsecurity THEN 'off'::text
            WHEN c.relforcerowsecurity THEN 'forced'::text
            ELSE 'on, not forced'::text
        END AS row_security,
    obj_description(c.oid, 'pg_class'::name) AS comment,
    format('%I.%I'::text, n.nspname, c.relname) AS name
   FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char"])) AND n.nspname !~ '^(pg_|information_schema$|graphile_)'::text;
comment on view audit.relations is 'Tables and views of this database that are not PostgreSQL''s own or those of graphile-migrate.';

grant select on audit.relations to graph_admin;
grant select on audit.relations to graph_auditor;
