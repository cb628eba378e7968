CREATE OR REPLACE FUNCTION feed.create_partition(day date)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    name text = 'changes_' || to_char(day, 'YYYY_MM_DD');
    since timestamptz = day::timestamp at time zone 'UTC';
    until timestamptz = (day + 1)::timestamp at time zone 'UTC';
  begin
    -- What the default partition has of a day stays there.
    if to_regclass('feed.' || name) is not null or exists (select from feed.changes_default where at >= since and at < until) then
      return false;
    end if;
    execute format(
      'create table feed.%I (like feed.changes including constraints, constraint %I primary key (organization_id, horizon, id, at))',
      name, name || '_pkey');
    perform audit.guard_partition(format('feed.%I', name));
    insert into audit.accepted (kind, object, who, reason) values ('history', 'feed.' || name, 'everybody', 'It is a record itself.')
    on conflict on constraint accepted_pkey do nothing;
    -- Unlike `create table … partition of`, this lets writers of other partitions go on.
    execute format('alter table feed.changes attach partition feed.%I for values from (%L) to (%L)', name, since, until);
    return true;
  end
  $function$;
comment on function feed.create_partition(date) is 'Makes the partition of a day, in UTC, and says whether it was missing. For the owner.';
