CREATE OR REPLACE FUNCTION audit.create_partition(month timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
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
  $function$;
comment on function audit.create_partition(timestamp with time zone) is 'Makes the partition of the month that begins then, in UTC, and moves what the default partition has of it. For the owner.';
