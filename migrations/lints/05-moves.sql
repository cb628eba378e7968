-- What moves with an organization to another database, and which tables cannot. `admin move-organization` reads both, and refuses to begin
-- while there is a table that cannot: so a finding says it as soon as the table is there.
--
-- A table moves if it has the column `organization_id`, one of this service or of your own. Logical replication tells its rows apart by the replica identity,
-- and copies those of one organization alone by a row filter, which must be of columns of that identity.

create or replace view audit.moved_tables with (security_invoker = true) as
  select c.oid as relation_id, c.oid::regclass::text collate "default" as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_'
    -- The history would count what arrives as inserted; so would the feed, with what follows it. The row that says what moves is of each database.
    and n.nspname not in ('audit', 'feed')
    and (n.nspname, c.relname) not in (('app_public', 'webhook_deliveries'), ('app_hidden', 'webhook_positions'), ('app_hidden', 'organization_moves'));
comment on view audit.moved_tables is 'The tables whose rows move with an organization.';
grant select on audit.moved_tables to graph_auditor, graph_admin;

create or replace view audit.move_lints with (security_invoker = true) as
  with stored as (
    select c.oid, c.oid::regclass::text collate "default" as object, c.relpersistence, c.relreplident
    from pg_class c
    where c.oid in (select relation_id from audit.moved_tables)
      or c.oid in (select p.relid from audit.moved_tables m cross join lateral pg_partition_tree(m.relation_id) p)
  ),
  found (object, detail, remedy) as (
    select object, 'is unlogged, and so is not replicated', format('alter table %s set logged', object)
    from stored where relpersistence = 'u'
    union all
    select
      object, 'has no organization_id in the key by which logical replication tells its rows apart',
      'add the column to the primary key, or give the table another replica identity that has it'
    from stored
    where relreplident <> 'f'
      and not exists (
        select from pg_index i
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'organization_id'
        where i.indrelid = stored.oid and case relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident end)
    union all
    select
      k.conrelid::regclass::text, format('refers to %s and has no organization_id', k.confrelid::regclass),
      'add the column, and fill it'
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid and not c.relispartition
    join pg_namespace n on n.oid = c.relnamespace and n.nspname not in ('audit', 'feed')
    where k.contype = 'f' and k.confrelid in (select relation_id from audit.moved_tables)
      and not exists (select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'organization_id' and not a.attisdropped)
  )
  select 'table_not_movable' as name, 'warning' as level, f.object, f.detail, f.remedy collate "default" as remedy
  from found f;
comment on view audit.move_lints is 'Tables with which no organization can be moved to another database, those that are accepted included; empty when all is well.';
grant select on audit.move_lints to graph_auditor, graph_admin;
