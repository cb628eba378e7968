import fc from 'fast-check';
import { definer } from '../tries/try.ts';
import { tenant } from './conditions.ts';

const same = 'create function app.same(uuid) returns setof uuid language sql stable as $$ select $1 $$';
/** Its parameter has the name of a column in the query of `ids`. */
const isListed =
  'create function app.is_listed(id uuid) returns boolean language sql stable as $$ select exists (select from (select app.ids() as own) t where id <> own) $$';

/** Functions that policies call: overloads, defaults, results among the parameters. */
export const callees: fc.Arbitrary<readonly string[]> = fc
  .record({
    may: fc.constantFrom(
      ...[
        'tenant uuid, author uuid default app.user_id()',
        'tenant uuid, author uuid',
        'tenant text, author uuid default null',
      ].map(
        (parameters) =>
          `create function app.may(${parameters}) returns boolean language sql stable as $$ select tenant::uuid = app.tenant_id() and author = app.user_id() $$`,
      ),
      'create function app.may(out boolean, tenant uuid, author uuid default null) language sql stable as $$ select tenant is not null $$',
      'create function app.may(variadic uuid[]) returns boolean language sql stable as $$ select app.tenant_id() = any ($1) $$',
    ),
    more: fc.constantFrom(
      '',
      'create function app.may(text) returns boolean language sql stable as $$ select true $$',
      'create function app.may(uuid) returns boolean language sql stable as $$ select $1 = app.tenant_id() $$',
    ),
    ids: fc
      .record({
        query: fc.constantFrom(
          ...[
            'select app.user_id()',
            'select app.user_id() where app.user_id() is not null',
            'select 1; select app.user_id()',
          ],
          ...[
            'select u.id from app.users u where u.id = app.user_id()',
            `select u.id from app.users u where ${tenant}`,
          ],
          ...['select id from app.users union select app.user_id()', 'select u.id from app.users u limit 1'],
        ),
        options: fc.constantFrom(definer, definer, '', '', 'volatile', 'strict', 'immutable'),
      })
      .map(
        ({ query, options }) =>
          `create function app.ids() returns setof uuid language sql stable ${options} as $$ ${query} $$`,
      ),
    isMine: fc.constantFrom(
      'sql stable as $$ select $1 = app.user_id() $$',
      'sql stable as $$ select $1 is not null $$',
      'sql stable as $$ select $1 = app.user_id() or random() < 0.5 $$',
      'plpgsql immutable as $$ begin return $1 = app.user_id(); end $$',
      'plpgsql stable as $$ begin return $1 = app.user_id(); end $$',
      `plpgsql stable as $$ declare b boolean := $1 = app.user_id(); begin return b; end $$`,
      `sql stable ${definer} as $$ select $1 in (select id from app.users) $$`,
    ),
  })
  .map(({ may, more, ids, isMine }) => [
    ...[may, ...(more ? [more] : []), `create function app.is_mine(uuid) returns boolean language ${isMine}`],
    ...[ids.replace(/stable (volatile|immutable)/, '$1'), same, isListed],
  ]);
