import { createTenant, type OwnGraphTest, read, startGraphTest } from '../graphql/support.ts';
import { define, doors, sqlBody, withSchema } from './doors.ts';

let graph: OwnGraphTest;
beforeAll(async () => {
  graph = await startGraphTest();
  await graph.database.owner.query(`${doors} create type app_public.door_size as (width numeric, height numeric);`);
});
afterAll(() => graph.stop());

describe('the schema is not built, and says which function is wrong', () => {
  const body = "language sql volatile as $$ select 'a'::text $$";

  test.each<[string, string, RegExp]>([
    [
      'is there twice',
      `f(a text) returns text ${body}; create function app_public.f(a int) returns text ${body}`,
      /app_public\.f is there more than once/,
    ],
    ['is VARIADIC', `f(variadic a text[]) returns text ${body}`, /app_public\.f has a VARIADIC parameter/],
    [
      'takes anyelement',
      `f(a anyelement) returns text ${body}`,
      /app_public\.f takes or returns what GraphQL does not have/,
    ],
    [
      'returns an unknown record',
      'f() returns record language sql volatile as $$ select 1, 2 $$',
      /app_public\.f takes or returns/,
    ],
    [
      'returns setof void',
      'f() returns setof void language sql volatile as $$ select $$',
      /app_public\.f returns setof void/,
    ],
    [
      'is stable',
      "f() returns text language sql stable as $$ select 'a'::text $$",
      /app_public\.f is no @mutation: it must be volatile/,
    ],
    [
      'has two parameters of one name',
      `f(a_b text, "aB" text) returns text ${body}`,
      /app_public\.f has two parameters with the name aB/,
    ],
    ['takes lists of lists', `f(a app_public.f_list[]) returns text ${body}`, /app_public\.f is a list of lists/],
  ])('when it %s', async (_, definition, message) => {
    const create = `create domain app_public.f_list as text[]; create function app_public.${definition}; ${comment('@mutation')}`;

    await withSchema(graph, create, `${dropAll}; drop domain app_public.f_list`, async () => {
      await expect(graph.reload()).rejects.toThrow(message);
    });
  });

  test.each<[string, string, string, RegExp]>([
    [
      'a type that is not there',
      'a uuid',
      '{Unitt} a',
      /The parameter a of the function app_public\.f is said to be \{Unitt\}, and there is no such type/,
    ],
    [
      'ids of another type',
      'a text',
      '{Unit} a',
      /parameter a of the function app_public\.f is text, and cannot be the id of a Unit, whose key is uuid/,
    ],
    ['a type with another key', 'a bigint[]', '{Unit} a', /cannot be the id of a Unit/],
    [
      'a composite type',
      'a text',
      '{DoorSize} a',
      /is said to be \{DoorSize\}, and is text: neither that type nor jsonb/,
    ],
    ['another parameter', 'a text', 'b', /app_public\.f says "@param b", which is not one of its parameters: a/],
  ])('when its @param is %s', async (_, parameter, param, message) => {
    const create = `create function app_public.f(${parameter}) returns text ${body}; ${comment(`@mutation\n@param ${param}`)}`;

    await withSchema(graph, create, dropAll, async () => {
      await expect(graph.reload()).rejects.toThrow(message);
    });
  });

  test('when a list takes an argument of lists', async () => {
    const create = `create function app_public.units_f(unit app_public.units, first integer) returns setof app_public.doors
      ${sqlBody('select * from app_public.doors', 'stable')}`;

    await withSchema(graph, create, 'drop function app_public.units_f', async () => {
      await expect(graph.reload()).rejects.toThrow(/app_public\.units_f has a parameter first, which is the name/);
    });
  });

  test('when its @param is a type whose key has two columns', async () => {
    const create = `create table app_public.pairs (organization_id uuid, a uuid, b uuid, primary key (organization_id, a, b));
      create function app_public.f(a uuid) returns text ${body}; ${comment('@mutation\n@param {Pair} a')}`;

    await withSchema(graph, create, `${dropAll}; drop table app_public.pairs`, async () => {
      await expect(graph.reload()).rejects.toThrow(/cannot be the id of a Pair, whose key is uuid and uuid/);
    });
  });

  test('when it is a procedure', async () => {
    const create = `create procedure app_public.p() language sql as $$ select $$; comment on procedure app_public.p is '@mutation'`;

    await withSchema(graph, create, 'drop procedure app_public.p', async () => {
      await expect(graph.reload()).rejects.toThrow(/app_public\.p is no function/);
    });
  });

  test('until it is right', async () => {
    const names = define(
      'names_array()',
      `returns text[] ${sqlBody("select array['a', null]")}`,
      '@mutation\nAn array.',
    );

    const tenant = await createTenant(graph);

    await withSchema(graph, names, 'drop function app_public.names_array()', async () => {
      await graph.reload();
      expect(await read(graph, tenant.app, 'mutation { namesArray { result } }')).toEqual({
        namesArray: { result: ['a', null] },
      });
    });
  });

  /** Runs a statement for each function f. */
  const each = (statement: string) => `do $do$ declare f regprocedure; begin
    for f in select oid from pg_proc where proname = 'f' loop execute format('${statement}', f); end loop; end $do$`;
  const comment = (text: string) => each(`comment on function %s is ''${text}''`);
  const dropAll = each('drop function %s');
});
