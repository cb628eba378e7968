import { type Refuted, visible } from './support.ts';

const client = 'table app.things';
const shows = (condition: string, columns = '', rows = '(1, 1), (2, 2)') =>
  visible(columns, rows, `tenant_id = app.t() or ${condition}`);
const mine = "nullif(current_setting('app.tenant_id', true), '')::int";
const mode = "current_setting('app.mode', true)";
const prepared = ['prepare things as table app.things', 'execute things'];
const numbers = 'create sequence app.numbers; grant usage on sequence app.numbers to client;';

/** What a function says of itself, and does not keep. */
export const labels: readonly Refuted[] = [
  {
    title: 'a stable function that is random',
    schema: `create function app.coin() returns float8 language sql stable as 'select random()';
      ${shows('app.coin() <> app.coin()')}`,
    client,
  },
  {
    title: 'a stable function of the present moment',
    schema: `create function app.moment() returns timestamptz language sql stable as 'select clock_timestamp()';
      ${shows('app.moment() <> app.moment()')}`,
    client: ['select pg_sleep(0.01)', client],
  },
  {
    title: 'an immutable function that counts',
    schema: `${numbers}
      create function app.next(text) returns bigint language sql immutable as $$ select nextval('app.numbers') $$;
      ${shows('app.next(label) <> app.next(label)', 'label text', "(1, 1, 'x'), (2, 2, 'x')")}`,
    client,
  },
  {
    title: 'a stable function in plpgsql that is random',
    schema: `create function app.coin() returns float8 language plpgsql stable as 'begin return random(); end';
      ${shows('app.coin() <> app.coin()')}`,
    client,
  },
  {
    title: 'a stable function of a volatile function',
    schema: `create function app.dice() returns float8 language sql volatile as 'select random()';
      create function app.coin() returns float8 language sql stable as 'select app.dice()';
      ${shows('app.coin() <> app.coin()')}`,
    client,
  },
  {
    title: 'a volatile function that is asked twice',
    schema: `create function app.coin() returns float8 language sql volatile as 'select random()';
      ${shows('app.coin() <> app.coin()')}`,
    client,
  },
  {
    title: 'a random uuid that is asked twice',
    schema: shows('gen_random_uuid() <> gen_random_uuid()'),
    client,
  },
  {
    title: 'a column of a subquery that is random each time',
    schema: shows('exists (select from (select random() as r) x where x.r <> x.r)').replace(
      'random() as r) x where x.r <> x.r',
      'gen_random_uuid() as r union all select gen_random_uuid()) x, (select gen_random_uuid() as r) y where x.r <> y.r',
    ),
    client,
  },
  {
    title: 'an immutable function whose plan is kept',
    schema: `create function app.mine() returns int language sql immutable as $$ select ${mine} $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    earlier: prepared,
    client: 'execute things',
  },
  {
    title: 'an immutable definer whose plan is kept',
    schema: `create function app.mine() returns int language sql immutable security definer as $$ select ${mine} $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    earlier: prepared,
    client: 'execute things',
  },
  {
    title: 'an immutable function in plpgsql whose plan is kept',
    schema: `create function app.mine() returns int language plpgsql immutable as $$ begin return ${mine}; end $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.t() and tenant_id = app.mine() or tenant_id = app.mine()')}`,
    earlier: prepared,
    client: 'execute things',
  },
  {
    title: 'an immutable function that a stable one calls whose plan is kept',
    schema: `create function app.kept() returns int language sql immutable as $$ select ${mine} $$;
      create function app.mine() returns int language sql stable as 'select app.kept()';
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    earlier: prepared,
    client: 'execute things',
  },
  {
    title: 'an immutable function of a claim in a function of a client whose plan is kept',
    schema: `create function app.mine() returns int language sql immutable as $$ select ${mine} $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}
      create function app.list() returns setof app.things language plpgsql stable as $$ begin return query table app.things; end $$`,
    earlier: ['select * from app.list()', 'select * from app.list()'],
    client: 'select * from app.list()',
  },
  {
    title: 'an immutable function of a claim in a check',
    schema: `create function app.mine() returns int language sql immutable as $$ select ${mine} $$;
      set local app.tenant_id = '2';
      ${visible('check (tenant_id = app.mine())', '(2, 2)', 'true')}`,
    client,
  },
  {
    title: 'an immutable function of a table in a check',
    schema: `create table app.allowed (id int); insert into app.allowed values (1), (2); grant select on app.allowed to client;
      create function app.is_allowed(int) returns boolean language sql immutable
        as 'select exists (select from app.allowed where id = $1)';
      ${shows('not app.is_allowed(id)', 'check (app.is_allowed(id))')}
      delete from app.allowed`,
    client,
    shared: ['app.allowed'],
  },
  {
    title: 'a setting that is no claim and is asked twice',
    schema: visible('', '(1, 1), (2, 2)', `(select ${mode}) <> ${mode} or tenant_id = app.t()`),
    client: ["set app.mode = 'x'", "select *, set_config('app.mode', id::text, true) from app.things"],
  },
  {
    title: 'a setting of PostgreSQL that is asked twice',
    schema: visible(
      '',
      '(1, 1), (2, 2)',
      `(select current_setting('application_name')) <> current_setting('application_name') or tenant_id = app.t()`,
    ),
    client: "select *, set_config('application_name', id::text, true) from app.things",
  },
  {
    title: 'a setting that is no claim and is asked by two functions',
    schema: `create function app.mode() returns text language sql stable as $$ select ${mode} $$;
      ${visible('', '(1, 1), (2, 2)', '(select app.mode()) <> app.mode() or tenant_id = app.t()')}`,
    client: ["set app.mode = 'x'", "select *, set_config('app.mode', id::text, true) from app.things"],
  },
  {
    title: 'the current user that is asked twice',
    schema: `create role guest; grant guest to client;
      ${visible('', '(1, 1), (2, 2)', '(select current_user::text) <> current_user::text or tenant_id = app.t()')}`,
    client: "select *, set_config('role', 'guest', true) from app.things",
  },
  {
    title: 'the setting of a role that is asked twice',
    schema: `create role guest; grant guest to client;
      ${visible('', '(1, 1), (2, 2)', "(select current_setting('role')) <> current_setting('role') or tenant_id = app.t()")}`,
    client: "select *, set_config('role', 'guest', true) from app.things",
  },
  {
    title: 'a sequence that is asked twice',
    schema: `${numbers} select nextval('app.numbers'); grant select on app.numbers to client;
      ${visible('', '(1, 1), (2, 2)', "(select currval('app.numbers')) <> currval('app.numbers') or tenant_id = app.t()")}`,
    client: "select *, nextval('app.numbers') from app.things",
  },
  {
    title: 'the search path that is asked twice',
    schema: visible(
      '',
      '(1, 1), (2, 2)',
      "(select current_setting('search_path')) <> current_setting('search_path') or tenant_id = app.t()",
    ),
    client: "select *, set_config('search_path', 'x' || id, true) from app.things",
  },
  ...[
    { call: 'uuidv7()', since: 18 },
    { call: 'random(1, 1000000000)', since: 17 },
    { call: 'random_normal()', since: 16 },
    { call: 'clock_timestamp()', since: 15 },
  ].map(({ call, since }) => ({
    title: `a volatile ${call.replace(/\(.*/, '')} that is asked twice`,
    schema: shows(`${call}::text <> ${call}::text`),
    client,
    since,
  })),
  {
    title: 'a strict function that would answer null otherwise',
    schema: `create function app.has_label(text) returns boolean language sql immutable strict as 'select $1 is not null';
      ${shows('app.has_label(label) is null', 'label text', '(1, 1, null), (2, 2, null)')}`,
    client,
  },
  {
    title: 'a strict function of another parameter',
    schema: `create function app.is_mine(int, text) returns boolean language sql stable strict as 'select $1 = app.t()';
      ${visible('label text', '(1, 1, null), (2, 2, null)', 'coalesce(app.is_mine(tenant_id, label), true)')}`,
    client,
  },
  {
    title: 'a strict function in plpgsql that returns null on null',
    schema: `create function app.has_label(text) returns boolean language plpgsql immutable strict
        as 'begin return $1 is not null; end';
      ${shows('app.has_label(label) is null', 'label text', '(1, 1, null), (2, 2, null)')}`,
    client,
  },
  {
    title: 'a leakproof function that prints its argument',
    schema: `create function app.is_fine(text) returns boolean language plpgsql immutable leakproof cost 0.0001
      as $$ begin if $1 = 'of 2' then raise exception '%', $1; end if; return true; end $$`,
    client: 'select * from app.notes where app.is_fine(body)',
  },
  {
    title: 'a leakproof operator that prints its argument',
    schema: `create function app.is_fine(text, text) returns boolean language plpgsql immutable leakproof cost 0.0001
        as $$ begin if $1 = 'of 2' then raise exception '%', $1; end if; return true; end $$;
      create operator app.=== (function = app.is_fine, leftarg = text, rightarg = text)`,
    client: "select * from app.notes where body operator(app.===) ''",
  },
  {
    title: 'a policy of a function that a kept plan keeps for another role',
    schema: `create function app.who() returns text language sql immutable as 'select current_user::text';
      ${shows("app.who() <> 'client'")}
      create function app.list() returns setof app.things language sql stable as 'table app.things';
      create role guest; grant guest to client; grant usage on schema app to guest; grant select on app.things to guest;
      create policy guests on app.things to guest using (tenant_id = app.t() or app.who() <> 'guest')`,
    client: [
      'set role guest',
      'prepare things as table app.things',
      'reset role',
      'select app.who() from app.list()',
      'execute things',
    ],
  },
  ...[
    ['date', "'01/02/2026'", "datestyle = 'iso, dmy'"],
    ['timestamptz', "'2026-01-02 12:00'", "timezone = 'Pacific/Kiritimati'"],
    ['timetz', "'12:00'", "timezone = 'Pacific/Kiritimati'"],
  ].map(([type, value, setting]) => ({
    title: `a ${type} that a function has kept under another setting`,
    schema: `create function app.first() returns ${type} language plpgsql stable as $$ begin return ${value}::${type}; end $$;
      create function app.second() returns ${type} language plpgsql stable as $$ begin return ${value}::${type}; end $$;
      ${shows('app.first() <> app.second()')}`,
    client: ['select app.first()', `set ${setting}`, client],
  })),
];
