create view audit.recorded with (security_invoker=true) as
 SELECT t.tgrelid::regclass AS relation,
    r.name,
    known.subject AS subject_column,
    known.key AS row_columns,
    known.secrets,
    known.derived,
    key.columns AS key_columns,
    key.columns <@ (ARRAY['organization_id'::text, known.subject] || known.key) AS rebuildable
   FROM pg_trigger t
     JOIN pg_proc p ON p.oid = t.tgfoid
     JOIN audit.relations r ON r.relation::oid = t.tgrelid
     CROSS JOIN LATERAL audit.columns_of(t.tgrelid, "substring"(encode(t.tgargs, 'escape'::text), '^[a-z]*'::text)) known(secrets, derived, subject, key, is_plain)
     CROSS JOIN LATERAL ( SELECT array_agg(a.attname::text ORDER BY k."position") AS columns
           FROM pg_index i
             CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k(number, "position")
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
          WHERE i.indrelid = t.tgrelid AND i.indisprimary AND k."position" <= i.indnkeyatts) key
  WHERE p.pronamespace = 'audit'::regnamespace::oid AND p.proname = 'record_update'::name AND t.tgparentid = 0::oid;
comment on view audit.recorded is 'The tables whose changes audit.record has recorded, and how.';
comment on column audit.recorded.subject_column is 'The column of the person whom a row belongs to.';
comment on column audit.recorded.row_columns is 'The columns that say which row it is: row_id of the history has their values.';
comment on column audit.recorded.rebuildable is 'Whether an entry of the history says which row it is about, by the primary key.';

grant select on audit.recorded to graph_admin;
grant select on audit.recorded to graph_auditor;
