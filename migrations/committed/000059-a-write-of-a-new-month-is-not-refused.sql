--! Previous: sha1:c4832d39ab3ab025265ecb7794c47dbf15dd0b14
--! Hash: sha1:65f156dc99c6b016d0ec228c25baf5af04706450
--! Message: a write of a new month is not refused

-- A writer that had found the default partition before a month was attached, and waited for it, was refused: "new row for relation
-- "changes_default" violates partition constraint". Now it waits for the history itself, and finds the month.
create or replace function audit.create_partition(month timestamptz) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    until timestamptz = (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    name text = 'changes_' || to_char(month at time zone 'UTC', 'YYYY_MM');
  begin
    -- Only a month that is written now has writers to wait for, which is none when months are made ahead.
    if month <= clock_timestamp() or exists (select from audit.changes_default where occurred_at >= month and occurred_at < until) then
      lock table only audit.changes in share row exclusive mode;
    end if;
    -- PostgreSQL attaches no partition while the default one has rows of it. No writer adds any until the transaction ends.
    lock table audit.changes_default in access exclusive mode;
    execute format(
      'create table audit.%I (like audit.changes including constraints, constraint %I primary key (subject_id, organization_id, id))',
      name, name || '_pkey');
    if exists (select from audit.changes_default where occurred_at >= month and occurred_at < until) then
      -- No policy lets a role delete; the owner switches them off for this statement.
      alter table audit.changes_default no force row level security;
      execute format(
        'with moved as (delete from audit.changes_default where occurred_at >= $1 and occurred_at < $2 returning *)
         insert into audit.%I select * from moved', name) using month, until;
      alter table audit.changes_default force row level security;
    end if;
    perform audit.guard_partition(format('audit.%I', name));
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table audit.changes attach partition audit.%I for values from (%L) to (%L)', name, month, until);
  end
  $$;
