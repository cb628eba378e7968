import type { Tries } from './try.ts';

const sees = /bbbbbbbb-0000/;
const policy = (expression: string) =>
  `alter policy users_of_tenant on app.users using (tenant_id = (select app.tenant_id()) or (${expression}));`;
const pair = 'create type app.pair as (a int, b int); alter table app.users add column pair app.pair;';
const shown = { act: 'select tenant_id from app.users', sees, names: /app\.users/ };
const empty = `update app.users set pair = row(null, null)`;

/** A composite is null when its parts are, and neither null nor not null when some are. */
export const composites: Tries = {
  'is null by a check': {
    ...{ ...shown, rows: empty },
    given: `${pair} alter table app.users add check (pair is null); ${policy('pair is not distinct from row(null, null)::app.pair')}`,
  },
  'is a whole row': {
    ...shown,
    given: policy('not (users is null) and not (users is not null)').replace('app.users using', 'app.users using'),
    rows: 'alter table app.users add column more text',
  },
  'is a parameter': {
    ...{ ...shown, rows: 'select 1' },
    given: `create type app.pair as (a int, b int); alter table app.users add column pair app.pair not null default row(null, null);
      create function app.is_nothing(p app.pair) returns boolean language sql stable as $$ select p is null $$; grant execute on function app.is_nothing(app.pair) to member; ${policy('app.is_nothing(pair)')}`,
  },
  'is a row of a table in a subquery': {
    ...shown,
    given: `create table app.flags (a int, b int); insert into app.flags values (null, null); grant select on app.flags to member; ${policy('exists (select from app.flags f where f is null)')}`,
    names: /app\.(users|flags)/,
  },
  'is the result of a function': {
    ...shown,
    given: `create type app.pair as (a int, b int); create function app.nulls() returns app.pair language sql stable as $$ select row(null, null)::app.pair $$; grant execute on function app.nulls() to member;
      ${policy('app.nulls() is null and app.nulls() is not distinct from row(null, null)::app.pair')}`,
  },
};
