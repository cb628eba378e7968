import { author, type Tries } from './try.ts';

const notes = 'create materialized view app.kept as select id, author_id, body from app.notes;';
const tenant = { name: 'tenant', columns: ['tenant_id'], expression: 'old.tenant_id = claims.tenant_id' };
const kept = {
  invariants: [tenant, author('app.notes')],
  rows: 'refresh materialized view app.kept',
  sees: /Text of bbbbbbbb/,
};

/** A view shows what a materialized view keeps. */
export const materialized: Tries = {
  'shows it': {
    ...{ ...kept, act: 'select body from app.seen', names: /app\.(seen|kept)/ },
    given: `${notes} create view app.seen with (security_barrier) as select * from app.kept; grant select on app.seen to member;`,
  },
  'shows it by its columns alone': {
    ...{ ...kept, act: 'select body from app.seen', names: /app\.(seen|kept)/ },
    given: `create materialized view app.kept as select body from app.notes; create view app.seen with (security_barrier) as select body from app.kept; grant select on app.seen to member;`,
  },
  'shows it in a view of a view': {
    ...{ ...kept, act: 'select body from app.seen', names: /app\.(seen|kept)/ },
    given: `${notes} create view app.inner with (security_barrier) as select * from app.kept; create view app.seen with (security_barrier) as select body from app.inner; grant select on app.seen to member;`,
  },
  'is granted itself': {
    ...{ ...kept, act: 'select body from app.kept', names: /app\.kept/ },
    given: `create materialized view app.kept as select body from app.notes; grant select on app.kept to member;`,
  },
  'shows it beside what is allowed': {
    ...{ ...kept, act: 'select body from app.seen', names: /app\.(seen|kept)/ },
    given: `${notes} create view app.seen with (security_barrier) as select u.tenant_id, (select string_agg(body, ',') from app.kept) as body from app.users u where u.tenant_id = (select app.tenant_id()); grant select on app.seen to member;`,
  },
  'is read by a function': {
    ...{ ...kept, act: 'select app.bodies()', names: /app\.(bodies|kept)/ },
    given: `${notes} create function app.bodies() returns text[] language sql stable security definer set search_path = pg_catalog, pg_temp as $$ select array(select body from app.kept) $$;`,
  },
  'is asked by the claims of another one': {
    rows: `select set_config('app.tenant_id', 'bbbbbbbb-0000-7000-8000-000000000000', true); refresh materialized view app.kept`,
    ...{ sees: /bbbbbbbb/, act: 'select tenant_id from app.seen', names: /app\.(seen|kept)/ },
    given: `create materialized view app.kept as select * from app.users where tenant_id = app.tenant_id();
      create view app.seen with (security_barrier) as select * from app.kept; grant select on app.seen to member;`,
  },
};

const grant = 'grant select on app.seen to member;';
const names = `select string_agg(name || tenant_id, ',') from app.users`;
const inTarget = { act: 'select t from app.seen', sees: /bbbbbbbb/, names: /app\.(seen|entry)/ };
const ofTenant = `create view app.seen as select (${names}) as t, u.id from app.users u where u.tenant_id = (select app.tenant_id());`;

/** A view reads by a subquery in its list of columns. */
export const subqueries: Tries = {
  'is all that it has': { ...inTarget, given: `create view app.seen as select (${names}) as t; ${grant}` },
  'is in a view that another one reads': {
    ...inTarget,
    given: `create view app.inner as select (${names}) as t; create view app.seen as select * from app.inner; ${grant}`,
  },
  'is in a view that a function with the rights of its owner reads': {
    ...{ ...inTarget, act: 'select app.entry()' },
    given: `${ofTenant} create function app.entry() returns text language sql stable security definer set search_path = pg_catalog, pg_temp as $$ select t from app.seen limit 1 $$;`,
  },
};
const askedFor = (type: string) =>
  `select id from app.seen where case when id = :B1 then body::${type} is null else true end`;
const asked = { act: askedFor('int'), sees: /Text of bbbbbbbb/, names: /app\.seen/ };
const fast = `create function app.is_mine(uuid) returns boolean language sql stable cost 10000 set search_path = pg_catalog, pg_temp as $$ select $1 = app.tenant_id() $$; grant execute on function app.is_mine(uuid) to member;`;

/** An error of what a client asks shows rows that a view without `security_barrier` leaves out. */
export const leaks: Tries = {
  'is asked for a number': {
    ...asked,
    given: `${fast} create view app.seen as select id, body from app.notes where app.is_mine(tenant_id) and author_id = app.user_id() and app.is_mine(tenant_id); ${grant}`,
  },
  'is asked for a number, and shows the tenant': {
    ...asked,
    given: `${fast} create view app.seen as select * from app.notes where app.is_mine(tenant_id) and app.is_mine(tenant_id) and case when app.is_mine(tenant_id) then author_id = app.user_id() else false end; ${grant}`,
  },
  'is asked for a uuid': {
    ...{ ...asked, act: askedFor('uuid') },
    given: `${fast} create view app.seen as select id, body from app.notes where app.is_mine(tenant_id) and app.is_mine(author_id) is not null and case when app.is_mine(tenant_id) then author_id = app.user_id() else false end; ${grant}`,
  },
  'is asked for a date in a view of it': {
    ...{ ...asked, act: askedFor('date'), names: /app\.(seen|inner)/ },
    given: `${fast} create view app.inner as select id, body from app.notes where app.is_mine(tenant_id) and case when app.is_mine(tenant_id) then author_id = app.user_id() else false end; create view app.seen as select * from app.inner; ${grant}`,
  },
  'is asked in a view of its caller': {
    ...{ ...asked, names: /app\.(seen|inner)/ },
    given: `${fast} create view app.inner as select id, body from app.notes where app.is_mine(tenant_id) and case when app.is_mine(tenant_id) then author_id = app.user_id() else false end;
      create view app.seen with (security_invoker) as select * from app.inner; ${grant} ${grant.replace('seen', 'inner')}`,
  },
  joins: {
    ...asked,
    given: `${fast} create view app.seen as select n.id, n.body from app.notes n join (values (1)) v (one) on app.is_mine(n.tenant_id) and case when app.is_mine(n.tenant_id) then n.author_id = app.user_id() else false end; ${grant}`,
  },
  'asks a subquery': {
    ...asked,
    given: `${fast} create view app.seen as select n.id, n.body from app.notes n where app.is_mine(n.tenant_id) and case when app.is_mine(n.tenant_id) then n.author_id = app.user_id() else false end and n.id in (select id from app.notes where app.is_mine(tenant_id)); ${grant}`,
  },
};

/** A view has the rights of its owner, by whatever name. */
export const owners: Tries = {
  'needs quotes in its name': {
    ...{ act: 'select tenant_id from app.seen', sees: /bbbbbbbb/, names: /app\.seen/ },
    given: `create role "Owner of all"; grant usage on schema app to "Owner of all"; grant select on app.users to "Owner of all";
      create policy all_of_owner on app.users for select to "Owner of all" using (true);
      create view app.seen with (security_barrier) as select * from app.users; alter view app.seen owner to "Owner of all"; ${grant}`,
  },
};
