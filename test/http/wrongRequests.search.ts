import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { buildSchema } from 'postgraphile/graphql';
import { createTenant, type GraphTest } from '../graphql/support.ts';
import { seed, sizeOf } from '../support/search.ts';
import { shareService } from '../support/sharedService.ts';
import { wrongRequests } from './wrongRequests.ts';

// What is wrong at any place of any endpoint gets a short answer, and is no failure of the service. `bench neighbours` judges the time.

const schema = buildSchema(await readFile(new URL('../graphql/schema.graphql', import.meta.url), 'utf8'));
const all = wrongRequests(schema);
const count = sizeOf({ small: 100, whole: 2000 });

let graph: GraphTest;
let token: string;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
});

test(`each of ${count} wrong requests of ${all.length} gets a short answer, with seed ${seed}`, async () => {
  for (const { name, path, headers, body } of fc.sample(fc.constantFrom(...all), { numRuns: count, seed })) {
    const response = await fetch(graph.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, ...headers },
      body: body(),
      redirect: 'manual',
    });
    const text = await response.text();

    const errors = graph.logs.splice(0).filter((line) => JSON.parse(line).level >= 50);
    const isShort = text.length <= 100_000;
    expect({ name, isShort, isFailure: response.status >= 500, errors }).toEqual({
      ...{ name, isShort: true, isFailure: false, errors: [] },
    });
    expect(`${name}: ${/x{201}/.exec(text)?.[0] ?? ''}`).toBe(`${name}: `);
  }
});
