create view audit.unaccepted_rights with (security_invoker=true) as
 WITH known AS MATERIALIZED (
         SELECT a_1.object,
            a_1.who,
            a_1.hash::text[] AS rights
           FROM audit.accepted a_1
          WHERE a_1.kind = 'right'::text
        ), granted AS MATERIALIZED (
         SELECT rights.object,
            rights.part,
            rights.who_id,
            rights.who,
            rights.command
           FROM audit.rights
        )
 SELECT r.object,
    r.who_id,
    r.who,
    r.command,
    string_agg(quote_ident(r.part), ', '::text ORDER BY r.part) AS columns,
        CASE
            WHEN bool_and(r.part IS NULL) THEN ( SELECT string_agg(quote_ident(substr(kept.kept, length(r.command) + 2)), ', '::text) AS string_agg
               FROM unnest(min(a.rights)) kept(kept)
              WHERE kept.kept ^@ (r.command || ' '::text) AND kept.kept !~ ' with grant option'::text)
            ELSE NULL::text
        END AS accepted_columns
   FROM granted r
     JOIN known k ON k.object = r.object AND k.who = ''::text AND (concat_ws(' '::text, 'exists', r.part) = ANY (k.rights))
     LEFT JOIN known a ON a.object = r.object AND a.who = r.who
  WHERE r.who <> ''::text AND NOT ARRAY[r.command, concat_ws(' '::text, r.command, r.part)] && COALESCE(a.rights, '{}'::text[])
  GROUP BY r.object, r.who_id, r.who, r.command, (r.part IS NULL);
comment on view audit.unaccepted_rights is 'Rights on objects of this version, by role, that it does not grant and that were not accepted since; empty when all is well.';

grant select on audit.unaccepted_rights to graph_admin;
grant select on audit.unaccepted_rights to graph_auditor;
