create view audit.rights with (security_invoker=true) as
 SELECT o.object,
    o.part,
    g.who_id,
        CASE g.who_id
            WHEN 0 THEN 'public'::text
            ELSE COALESCE(pg_get_userbyid(g.who_id)::text, ''::text)
        END AS who,
    g.command
   FROM ( SELECT format('%s%I.%I'::text,
                CASE c.relkind
                    WHEN 'S'::"char" THEN 'sequence '::text
                    ELSE NULL::text
                END, n.nspname, c.relname) AS format,
            a.attname::text AS attname,
            n.nspname,
                CASE
                    WHEN a.attname IS NULL THEN c.relacl
                    ELSE a.attacl
                END AS attacl,
            c.relowner
           FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace
             CROSS JOIN LATERAL ( SELECT NULL::name AS "?column?",
                    NULL::aclitem[] AS "?column?"
                UNION ALL
                 SELECT a_1.attname,
                    a_1.attacl
                   FROM pg_attribute a_1
                  WHERE c.relkind <> 'S'::"char" AND a_1.attrelid = c.oid AND a_1.attnum > 0 AND NOT a_1.attisdropped) a(attname, attacl)
          WHERE (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char", 'S'::"char"])) AND NOT c.relispartition
        UNION ALL
         SELECT format('schema %I'::text, n.nspname) AS format,
            NULL::text,
            n.nspname,
            n.nspacl,
            n.nspowner
           FROM pg_namespace n) o(object, part, schema, acl, owner)
     CROSS JOIN LATERAL ( SELECT NULL::oid,
            'exists'::text AS "?column?"
        UNION ALL
         SELECT acl.grantee,
            lower(acl.privilege_type) ||
                CASE
                    WHEN acl.is_grantable THEN ' with grant option'::text
                    ELSE ''::text
                END
           FROM aclexplode(o.acl) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE acl.grantee <> o.owner) g(who_id, command)
  WHERE o.schema !~ '^(pg_|information_schema$|graphile_)'::text;
comment on view audit.rights is 'Every right on a table, view, sequence, schema or column, as it was granted. Each that exists has the right `exists` of no role.';

grant select on audit.rights to graph_admin;
grant select on audit.rights to graph_auditor;
