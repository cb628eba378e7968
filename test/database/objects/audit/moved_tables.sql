create view audit.moved_tables with (security_invoker=true) as
 SELECT c.oid AS relation_id,
    c.oid::regclass::text COLLATE "default" AS name
   FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'::name AND NOT a.attisdropped
  WHERE (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char"])) AND NOT c.relispartition AND n.nspname !~ '^pg_'::text AND (n.nspname <> ALL (ARRAY['audit'::name, 'feed'::name])) AND (n.nspname <> 'app_public'::name OR c.relname <> 'webhook_deliveries'::name) AND (n.nspname <> 'app_hidden'::name OR c.relname <> 'webhook_positions'::name) AND (n.nspname <> 'app_hidden'::name OR c.relname <> 'organization_moves'::name);
comment on view audit.moved_tables is 'The tables whose rows move with an organization.';

grant select on audit.moved_tables to graph_admin;
grant select on audit.moved_tables to graph_auditor;
