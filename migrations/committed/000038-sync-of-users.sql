--! Previous: sha1:40ceb4a3d96de0138cfe63aae6bdbeaa0b5e9ad2
--! Hash: sha1:bc2c5ecb669e9234d6f3d504f1dd05f83750258d
--! Message: sync of users

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).


-- A sync brings many rows at once: it creates what is new, changes what differs and leaves the rest untouched. Each row is judged by the rules
-- that its table has, so that a row that breaks one is refused by itself, in the words in which a single mutation refuses it.

drop function if exists app_public.users_sync(jsonb[], boolean);
drop function if exists app_hidden.write_users(app_hidden.judged_user[]);
drop function if exists app_hidden.judge_users(jsonb[]);
drop type if exists app_hidden.judged_user;
drop type if exists app_public.user_sync_result;
drop type if exists app_public.user_sync_input;
drop function if exists app_hidden.broken_checks(anyarray);
drop function if exists app_hidden.refusal_of(oid);
drop type if exists app_public.sync_error;
drop type if exists app_public.sync_outcome;

-- A payload's only field may have a name of its own (@payloadField), and a value of an enum a description (@value).

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('connection', '{table}'),
      ('filter', '{column}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
      ('payloadField', '{function}'),
      ('value', '{type}'),
      -- PostGraphile's, as far as this graph is made by them: it has no generated mutation and no root field of a table.
      ('arg0modifier', '{function}'),
      ('arg0variant', '{function}'),
      ('backwardBehavior', '{foreign key}'),
      ('backwardDescription', '{foreign key}'),
      ('behavior', '{table,column,constraint,foreign key,function,type}'),
      ('deprecated', '{table,column,foreign key,function}'),
      ('enum', '{table,constraint,type}'),
      ('fieldName', '{foreign key,function}'),
      ('foreignConnectionFieldName', '{foreign key}'),
      ('foreignFieldName', '{foreign key}'),
      ('foreignKey', '{table}'),
      ('foreignSimpleFieldName', '{foreign key}'),
      ('foreignSingleFieldName', '{foreign key}'),
      ('forwardBehavior', '{foreign key}'),
      ('forwardDescription', '{foreign key}'),
      ('hasDefault', '{column}'),
      ('implements', '{table}'),
      ('interface', '{table}'),
      ('isIndexed', '{column,foreign key}'),
      ('listSuffix', '{table,foreign key,function}'),
      ('name', '{table,column,function,type}'),
      ('notNull', '{column,foreign key,function,type}'),
      ('partitionExpose', '{table}'),
      ('primaryKey', '{table}'),
      ('ref', '{table}'),
      ('refVia', '{table}'),
      ('returnType', '{function}'),
      ('type', '{table,column}'),
      ('unionMember', '{table}'),
      ('unique', '{table}')
  ) as tags (tag, kinds);
comment on view audit.smart_tags is 'The smart tags that the graph knows, and on what: a tag that is not here does nothing. A migration that adds one replaces this view.';

create type app_public.sync_outcome as enum ('CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED');
comment on type app_public.sync_outcome is
  E'@value CREATED It was new.\n@value UPDATED It differed.\n@value UNCHANGED It was the same, and is untouched.\n@value REFUSED Nothing of it was written; the error says why.\nWhat came of a row of a sync.';

create type app_public.sync_error as (code text, argument text, message text);
comment on type app_public.sync_error is 'Why a row of a sync was refused.';
comment on column app_public.sync_error.code is E'@notNull\nThe code that a mutation of this row alone would fail with, such as `CONFLICT`.';
comment on column app_public.sync_error.argument is 'The field of the row that is wrong.';
comment on column app_public.sync_error.message is E'@notNull\nThe reason, for people to read.';

-- The rules of a table, asked of rows that are not written yet.

create function app_hidden.refusal_of(rule oid) returns app_public.sync_error
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    select
      case contype when 'u' then 'CONFLICT' else 'BAD_USER_INPUT' end,
      (regexp_match(comment, '^@argument (\w+)', 'n'))[1],
      coalesce(nullif(regexp_replace(comment, '^(@[^\n]*(\n|$))*', ''), ''), 'A value is not allowed.')
    from (select contype, obj_description(oid, 'pg_constraint') as comment from pg_constraint where oid = refusal_of.rule) as broken
  $$;
comment on function app_hidden.refusal_of(oid) is 'What a client reads when it breaks a constraint: its comment.';

create function app_hidden.broken_checks(rows anyarray) returns oid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  declare
    checks text = (
      select string_agg(format('when not (%s) then %s::oid', pg_get_expr(k.conbin, k.conrelid), k.oid), ' ' order by k.conname)
      from pg_constraint k
      join pg_type t on t.typrelid = k.conrelid
      join pg_type list on list.typelem = t.oid
      where list.oid = pg_typeof(rows) and k.contype = 'c');
    broken oid[];
  begin
    execute format('select array_agg(case %s end order by place) from unnest($1) with ordinality as r (%s, place)', checks,
        (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
         from pg_attribute a
         join pg_type t on t.typrelid = a.attrelid
         join pg_type list on list.typelem = t.oid
         where list.oid = pg_typeof(rows) and a.attnum > 0 and not a.attisdropped))
      into broken using rows;
    return broken;
  end
  $$;
comment on function app_hidden.broken_checks(anyarray) is
  'For each row of a table the check constraint that writing it would break; of several the first by name, as PostgreSQL has it.';

create type app_public.user_sync_input as (
  external_identifier text, full_name text, email text, locale text, time_zone text, external_authentication_token text, accessible_units text[]);
comment on type app_public.user_sync_input is 'A user as a client system has it. What is left out stays as it is; a new user needs `fullName` and `email`.';
comment on column app_public.user_sync_input.external_identifier is E'@notNull\nIdentifier that the client system assigns: 1 to 200 characters, compared exactly. It says which user is meant.';
comment on column app_public.user_sync_input.full_name is 'Full name: 1 to 200 characters.';
comment on column app_public.user_sync_input.email is 'E-mail address: unique in the organization, whatever its case.';
comment on column app_public.user_sync_input.locale is 'BCP 47 language tag, such as `de` or `de-AT`; `en` for a new user.';
comment on column app_public.user_sync_input.time_zone is 'IANA name, such as `Europe/Berlin`, or the city alone; `UTC` for a new user.';
comment on column app_public.user_sync_input.external_authentication_token is 'Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it.';
comment on column app_public.user_sync_input.accessible_units is
  'External identifiers of units. The user may then access these, each with all below it, and no others; an empty list or null withdraws all access.';

create type app_public.user_sync_result as (
  external_identifier text, outcome app_public.sync_outcome, "user" app_public.users, error app_public.sync_error);
comment on type app_public.user_sync_result is 'What came of a row of `usersSync`.';
comment on column app_public.user_sync_result.external_identifier is E'@notNull\nThe row, by its external identifier.';
comment on column app_public.user_sync_result.outcome is E'@notNull\nWhat came of it.';
comment on column app_public.user_sync_result."user" is 'The user after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.user_sync_result.error is 'Why the row was refused; null unless it was.';

create type app_hidden.judged_user as (
  place int, external_identifier text, changes jsonb, before app_public.users, after app_public.users, unit_ids uuid[],
  outcome app_public.sync_outcome, error app_public.sync_error);
comment on type app_hidden.judged_user is
  'A row of a sync: the columns that it gives, the user before and after it, and the units that the user may then access, null when these stay.';

-- The external authentication token comes as the text of an object: its ciphertext for the user `userId`, its hash, that under the key before (all in
-- hex), or its `problem`.
create function app_hidden.judge_users(given jsonb[]) returns app_hidden.judged_user[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    judged app_hidden.judged_user[];
    counts_duplicates boolean;
    -- Rows by an index, in statements of their own, planned anew as the table grows: else all users of the organization might be read.
    known app_public.users[] = array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.external_identifier = any (array(select g ->> 'external_identifier' from unnest(judge_users.given) as g)));
    holders app_public.users[];
  begin
    with given as materialized (
      select
        place, g ->> 'external_identifier' as external_identifier, g -> 'accessible_units' as units,
        case when g ? 'external_authentication_token' then coalesce((g ->> 'external_authentication_token')::jsonb, 'null') end as token,
        g - '{external_authentication_token,accessible_units}'::text[]
          || case when g ? 'full_name' then jsonb_build_object('full_name', app_hidden.trimmed(g ->> 'full_name')) else '{}' end
          || case when g ? 'email'
            then jsonb_build_object('email', app_hidden.trimmed(g ->> 'email'), 'email_lowercase', lower(app_hidden.trimmed(g ->> 'email')))
            else '{}'
          end as columns
      from unnest(judge_users.given) with ordinality as rows (g, place)
    ),
    units as materialized (
      select named.name, u.id
      from (select distinct jsonb_array_elements_text(g.units) from given g where jsonb_typeof(g.units) = 'array') as named (name)
      left join app_public.units u on u.organization_id = organization and u.external_identifier = named.name
    ),
    access as materialized (
      select g.place, array_agg(distinct u.id) as unit_ids, bool_or(u.id is null) as has_unknown
      from given g
      cross join lateral jsonb_array_elements_text(g.units) as named (name)
      join units u using (name)
      where jsonb_typeof(g.units) = 'array'
      group by g.place
    ),
    compared as materialized (
      select
        g.place, g.external_identifier, g.token,
        case when u.id is null then jsonb_strip_nulls(g.columns) else g.columns end
          || case
            when g.token is null or g.token ? 'problem'
              or encode(u.external_authentication_token_hash, 'hex') in (g.token ->> 'hash', g.token ->> 'previousHash') then '{}'
            else jsonb_build_object(
              'external_authentication_token_ciphertext', '\x' || (g.token ->> 'ciphertext'),
              'external_authentication_token_hash', '\x' || (g.token ->> 'hash'), 'previous_hash', '\x' || (g.token ->> 'previousHash'))
          end as changes,
        u as before,
        case when g.units is not null then coalesce(a.unit_ids, '{}') end as unit_ids,
        case
          when row_number() over (partition by g.external_identifier order by g.place) > 1
            then row ('CONFLICT', 'externalIdentifier', 'An earlier row has this external identifier.')::app_public.sync_error
          when u.id is not null and missing.argument is not null
            then row ('BAD_USER_INPUT', missing.argument, missing.argument || ' cannot be null; leave it out to keep its value.')::app_public.sync_error
          when u.id is null and g.columns ->> 'full_name' is null
            then row ('BAD_USER_INPUT', 'fullName', 'A new user needs fullName.')::app_public.sync_error
          when u.id is null and g.columns ->> 'email' is null
            then row ('BAD_USER_INPUT', 'email', 'A new user needs email.')::app_public.sync_error
          when g.token ? 'problem'
            then row ('BAD_USER_INPUT', 'externalAuthenticationToken', g.token ->> 'problem')::app_public.sync_error
        end as error,
        a.has_unknown
      from given g
      left join unnest(known) as u on u.external_identifier = g.external_identifier
      left join access a on a.place = g.place
      left join lateral (
        select argument
        from (values (1, 'full_name', 'fullName'), (2, 'email', 'email'), (3, 'locale', 'locale'), (4, 'time_zone', 'timeZone')) as c (n, name, argument)
        where g.columns -> c.name = 'null'
        order by n
        limit 1
      ) as missing on true
    ),
    wanted as materialized (
      select
        c.*,
        jsonb_populate_record(
          coalesce(c.before, jsonb_populate_record(null::app_public.users, jsonb_build_object(
            'organization_id', organization, 'id', coalesce((c.token ->> 'userId')::uuid, app_hidden.uuid_v7()), 'locale', 'en', 'time_zone', 'UTC'))),
          c.changes) as after
      from compared c
    ),
    zones as materialized (
      select z.name as time_zone, z.problem
      from app_hidden.time_zone_problems(array(
        select distinct (after).time_zone from wanted where (error).code is null and (before).time_zone is distinct from (after).time_zone
      )) as z
    ),
    checks as (
      select n as place, rule
      from unnest(app_hidden.broken_checks((select array_agg(w.after order by w.place) from wanted w))) with ordinality as broken (rule, n)
    )
    select array_agg(row (
      w.place, w.external_identifier, w.changes, w.before, w.after, w.unit_ids, null,
      case
        when (w.error).code is not null then w.error
        when zones.problem is not null then row ('BAD_USER_INPUT', 'timeZone', zones.problem)::app_public.sync_error
        when checks.rule is not null then app_hidden.refusal_of(checks.rule)
        when w.has_unknown then row ('NOT_FOUND', 'accessibleUnits', 'There is no such unit.')::app_public.sync_error
        when w.changes ->> 'external_authentication_token_hash' is not null and (w.token ->> 'userId')::uuid is distinct from (w.after).id
          then row ('UNAVAILABLE', null, 'The user was created or deleted meanwhile; send the row again.')::app_public.sync_error
      end)::app_hidden.judged_user order by w.place) into judged
    from wanted w
    join checks using (place)
    left join zones on zones.time_zone = (w.after).time_zone and (w.before).time_zone is distinct from (w.after).time_zone;

    holders = array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.email_lowercase = any (array(
          select (j.after).email_lowercase from unnest(judged) as j
          where (j.error).code is null and (j.before).email_lowercase is distinct from (j.after).email_lowercase)))
      || array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.external_authentication_token_hash = any (array(
          select unnest(array[(j.after).external_authentication_token_hash, (j.changes ->> 'previous_hash')::bytea]) from unnest(judged) as j
          where (j.error).code is null and j.changes ->> 'external_authentication_token_hash' is not null)));
    -- What is unique may change hands within a sync. A user who does not give it up, since the row does not say so or is refused, keeps it.
    -- Then the later of two rows that want the same is refused.
    foreach counts_duplicates in array '{false,true}'::boolean[] loop
      with recursive live as materialized (
        select j.place, (j.before).id as known_id, (j.after).id, (j.after).email_lowercase as email, (j.after).external_authentication_token_hash as hash,
          (j.changes ->> 'previous_hash')::bytea as previous_hash,
          (j.before).email_lowercase is distinct from (j.after).email_lowercase as changes_email,
          (j.before).external_authentication_token_hash is distinct from (j.after).external_authentication_token_hash as changes_hash
        from unnest(judged) as j
        where (j.error).code is null
      ),
      held as materialized (
        select l.place, 'users_email_key'::name as rule, h.place as holder
        from live l
        join unnest(holders) as u on u.email_lowercase = l.email and u.id <> l.id
        left join live h on h.known_id = u.id and h.changes_email
        where l.changes_email
        union all
        select l.place, 'users_external_authentication_token_hash_key', h.place
        from live l
        cross join lateral unnest(array[l.hash, l.previous_hash]) as wanted (hash)
        join unnest(holders) as u on u.external_authentication_token_hash = wanted.hash and u.id <> l.id
        left join live h on h.known_id = u.id and h.changes_hash
        where l.changes_hash
      ),
      refused (place, rule) as (
        (
          select place, rule from held where holder is null
          union all
          select place, rule
          from (
            select place, 'users_email_key'::name, row_number() over (partition by email order by place) from live where changes_email
            union all
            select place, 'users_external_authentication_token_hash_key', row_number() over (partition by hash order by place)
            from live
            where changes_hash and hash is not null
          ) as wants (place, rule, number)
          where counts_duplicates and number > 1
        )
        union
        select held.place, held.rule from held join refused on refused.place = held.holder
      ),
      rules as (
        select r.place, min(r.rule) as rule from refused r group by r.place
      )
      select array_agg(row (
        j.place, j.external_identifier, j.changes, j.before, j.after, j.unit_ids, null,
        case
          when r.rule is null then j.error
          else app_hidden.refusal_of((select oid from pg_constraint where conrelid = 'app_public.users'::regclass and conname = r.rule))
        end)::app_hidden.judged_user order by j.place) into judged
      from unnest(judged) as j
      left join rules r on r.place = j.place;
    end loop;

    return array(
      select row (
        j.place, j.external_identifier, j.changes, j.before, j.after, j.unit_ids,
        case
          when (j.error).code is not null then 'REFUSED'
          when (j.before).id is null then 'CREATED'
          when j.before is distinct from j.after or j.unit_ids is not null and (j.unit_ids <@ a.unit_ids and j.unit_ids @> a.unit_ids) is not true then 'UPDATED'
          else 'UNCHANGED'
        end, j.error)::app_hidden.judged_user
      from unnest(judged) as j
      left join lateral (
        select coalesce(array_agg(a.unit_id), '{}') as unit_ids
        from app_hidden.unit_access a
        where j.unit_ids is not null and a.organization_id = organization and a.user_id = (j.before).id
      ) as a on true
      order by j.place);
  end
  $$;
comment on function app_hidden.judge_users(jsonb[]) is 'What would come of each row of a sync of users, and why it would be refused. Writes nothing.';

create function app_hidden.write_users(judged app_hidden.judged_user[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
  begin
    -- In one order, so that it and a change of one user never wait for each other.
    perform
    from app_public.users u
    where u.organization_id = organization and u.id in (select (j.before).id from unnest(judged) as j where j.outcome = 'UPDATED')
    order by u.id
    for no key update;

    -- A user whose address or token another one of the sync gets loses it first, until the next statement.
    with changed as (
      select (before).id, (before).email_lowercase as old_email, (after).email_lowercase as new_email,
        (before).external_authentication_token_hash as old_hash, (after).external_authentication_token_hash as new_hash
      from unnest(judged)
      where outcome = 'UPDATED'
    ),
    leaving as (
      select
        id, old_email <> new_email and old_email in (select new_email from changed) as leaves_email,
        old_hash is distinct from new_hash and old_hash in (select new_hash from changed where new_hash is not null) as leaves_token
      from changed
    )
    update app_public.users u set
      email = case when l.leaves_email then u.id || '@parked.invalid' else u.email end,
      external_authentication_token_ciphertext = case when l.leaves_token then null else u.external_authentication_token_ciphertext end,
      external_authentication_token_hash = case when l.leaves_token then null else u.external_authentication_token_hash end
    from leaving l
    where u.organization_id = organization and u.id = l.id and (l.leaves_email or l.leaves_token);

    update app_public.users u set (
      full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash
    ) = (
      -- Of the row as it is by now: what is not given stays, whoever has changed it meanwhile.
      select c.full_name, c.email, c.locale, c.time_zone, c.external_authentication_token_ciphertext, c.external_authentication_token_hash
      from jsonb_populate_record(u, j.changes) as c
    )
    from unnest(judged) as j
    where u.organization_id = organization and u.id = (j.before).id and j.outcome = 'UPDATED' and j.before is distinct from j.after;

    insert into app_public.users (
      organization_id, id, external_identifier, full_name, email, locale, time_zone,
      external_authentication_token_ciphertext, external_authentication_token_hash)
    select
      organization, (after).id, (after).external_identifier, (after).full_name, (after).email, (after).locale, (after).time_zone,
      (after).external_authentication_token_ciphertext, (after).external_authentication_token_hash
    from unnest(judged)
    where outcome = 'CREATED'
    order by (after).id;

    delete from app_hidden.unit_access a
    using unnest(judged) as j
    where a.organization_id = organization and a.user_id = (j.before).id and j.outcome = 'UPDATED' and a.unit_id <> all (j.unit_ids);

    insert into app_hidden.unit_access (organization_id, user_id, unit_id)
    select organization, (j.after).id, granted.unit_id
    from unnest(judged) as j
    cross join lateral unnest(j.unit_ids) as granted (unit_id)
    where j.outcome in ('CREATED', 'UPDATED')
    on conflict do nothing;
  end
  $$;
comment on function app_hidden.write_users(app_hidden.judged_user[]) is 'Writes those users of a sync that are new or differ, and their grants.';

create function app_public.users_sync(users jsonb[], dry_run boolean default false) returns setof app_public.user_sync_result
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_user[];
    written app_public.users[];
    tries int = 0;
  begin
    if cardinality(users_sync.users) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'users';
    end if;
    if not is_dry_run then
      -- The tree first, as always: no unit is deleted while access to it is granted. Then syncs of one organization wait for each other.
      if exists (select from unnest(users_sync.users) as g where g ? 'accessible_units') then
        perform app_hidden.lock_units(shared => true);
      end if;
      perform pg_advisory_xact_lock(hashtextextended(organization::text, hashtextextended('app_public.users', 0)));
    end if;
    loop
      judged = app_hidden.judge_users(users_sync.users);
      exit when is_dry_run;
      begin
        perform app_hidden.write_users(judged);
        exit;
      exception
        -- Another change took an address, or deleted a user, since they were judged.
        when unique_violation or foreign_key_violation then
          tries = tries + 1;
          if tries = 3 then
            raise;
          end if;
      end;
    end loop;

    written = array(
      select u from app_public.users u
      where u.organization_id = organization and u.id = any (array(select (j.after).id from unnest(judged) as j where j.outcome <> 'REFUSED')));
    return query
      select j.external_identifier, j.outcome, case when j.outcome <> 'REFUSED' then u end, j.error
      from unnest(judged) as j
      left join unnest(written) as u on u.id = (j.after).id
      order by j.place;
  end
  $$;
comment on function app_public.users_sync(jsonb[], boolean) is
  E'@mutation\n@payloadField results\n@param {UserSyncInput} users The users: 1 to 1,000.\n@param dryRun = false Whether nothing is written, and the results say what would come of it.\nMakes users what a client system has: creates those that are new, changes those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';
grant execute on function
  app_hidden.refusal_of(oid), app_hidden.broken_checks(anyarray), app_hidden.judge_users(jsonb[]),
  app_hidden.write_users(app_hidden.judged_user[]), app_public.users_sync(jsonb[], boolean)
  to graph_app, graph_admin;
