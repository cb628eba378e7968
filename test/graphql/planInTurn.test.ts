import { setImmediate as turnEnds } from 'node:timers/promises';
import { type GraphQLSchema, parse } from 'postgraphile/graphql';
import type { PreparedDocument } from '../../src/graphql/document/document.ts';
import { planInTurn } from '../../src/graphql/execute.ts';
import { asTenant } from '../support/asTenant.ts';

function prepare(): PreparedDocument {
  const query = '{ app { name } }';
  const document = parse(query);
  const size = {
    depth: 2,
    aliases: 0,
    rootFields: 1,
    directives: 0,
    fields: 2,
    connections: 0,
    objects: 2,
    branches: 0,
  };
  const [operation] = document.definitions as [PreparedDocument['operation']];
  return { document, operation, size, rootFields: ['app'], query, fragments: new Map(), schema: {} as GraphQLSchema };
}

test('one operation is planned in a turn of the event loop, and those that were planned before wait for none', async () => {
  const known = prepare();
  await planInTurn(known, () => undefined);
  const begun: string[] = [];
  const all = [1, 2, 3].map((n) => planInTurn(prepare(), () => begun.push(`new${n}`)));
  all.push(planInTurn(known, () => begun.push('known')));

  await Promise.resolve();
  expect(begun.filter((name) => name === 'known')).toEqual(['known']);
  const counts: number[] = [];
  while (begun.length < 4) {
    const before = begun.length;
    await turnEnds();
    counts.push(begun.length - before);
  }

  expect(Math.max(...counts)).toBe(1);
  await Promise.all(all);
});

test('tenants take turns by what their planning has cost, and not in the order of arrival', async () => {
  const begun: string[] = [];
  const plan = (tenant: string, tookMs: number, name: string) =>
    asTenant(tenant, () =>
      planInTurn(prepare(), () => {
        begun.push(name);
        for (const until = performance.now() + tookMs; performance.now() < until; );
      }),
    );
  const all = [1, 2, 3, 4, 5].map((n) => plan('large', 20, `large${n}`));
  all.push(...[1, 2, 3].map((n) => plan('small', 0, `small${n}`)));

  await Promise.all(all);

  expect(begun.slice(0, 4)).toEqual(['large1', 'small1', 'small2', 'small3']);
});

test('what fails is planned again in its turn', async () => {
  const prepared = prepare();

  await expect(planInTurn(prepared, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

  expect(await planInTurn(prepared, async () => 'planned')).toBe('planned');
});
