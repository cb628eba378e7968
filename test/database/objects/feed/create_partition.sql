CREATE OR REPLACE FUNCTION feed.create_partition(day date)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    name text = 'changes_' || to_char(day, 'YYYY_MM_DD');
    since timestamptz = day::timestamp at time zone 'UTC';
    until timestamptz = (day + 1)::timestamp at time zone 'UTC';
  begin
    if to_regclass('feed.' || name) is not null then
      return false;
    end if;
    if since <= clock_timestamp() or exists (select from feed.changes_default where at >= since and at < until) then
      lock table only feed.changes in share row exclusive mode;
    end if;
    lock table feed.changes_default in access exclusive mode;
    execute format(
      'create table feed.%I (like feed.changes including constraints, constraint %I primary key (organization_id, horizon, id, at))',
      name, name || '_pkey');
    if exists (select from feed.changes_default where at >= since and at < until) then
      -- No policy lets a role delete; the owner switches them off for this statement.
      alter table feed.changes_default no force row level security;
      execute format(
        'with moved as (delete from feed.changes_default where at >= $1 and at < $2 returning *) insert into feed.%I select * from moved', name)
        using since, until;
      alter table feed.changes_default force row level security;
    end if;
    perform audit.guard_partition(format('feed.%I', name));
    insert into audit.accepted (kind, object, who, reason) values ('history', 'feed.' || name, 'everybody', 'It is a record itself.')
    on conflict on constraint accepted_pkey do nothing;
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table feed.changes attach partition feed.%I for values from (%L) to (%L)', name, since, until);
    return true;
  end
  $function$;
comment on function feed.create_partition(date) is 'Makes the partition of a day, in UTC, moves what the default partition has of it, and says whether it was missing. For the owner.';
