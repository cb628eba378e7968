import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { buildSchema } from 'postgraphile/graphql';
import { loadConfig } from '../../src/config.ts';
import { createRequestParser } from '../../src/graphql/endpoint.ts';

const schema = buildSchema(await readFile(new URL('schema.graphql', import.meta.url), 'utf8'));
const request = { method: 'POST', headers: { 'content-type': 'application/json' } } as IncomingMessage;
const long = (name: string) => `query ${name} { app { ${'name '.repeat(120)} } }`;

test('of long documents that were not seen before one is parsed in a turn of the event loop', async () => {
  const { parse } = createRequestParser(schema, loadConfig({}, 'serve'), null);
  const parsed: string[] = [];
  const read = async (name: string, query: string) => {
    await parse(request, Buffer.from(JSON.stringify({ query })), null);
    parsed.push(name);
  };
  // A document is kept from its second request on.
  for (let count = 0; count < 2; count++) await read('known', long('Known'));
  parsed.length = 0;
  // The piece of work before has eight turns.
  for (let turn = 0; turn < 8; turn++) await turnEnds();

  const all = [read('a', long('A')), read('b', long('B')), read('c', long('C')), read('short', '{ app { name } }')];
  all.push(read('known', long('Known')));
  const counts: number[] = [];
  while (parsed.length < 5) {
    const before = parsed.length;
    await turnEnds();
    counts.push(parsed.length - before);
  }
  await Promise.all(all);

  expect(parsed.slice(0, 3).toSorted()).toEqual(['a', 'known', 'short']);
  expect(counts.filter(Boolean)).toEqual([3, 1, 1]);
});

test('a long document that is not valid is refused in its turn', async () => {
  const { parse } = createRequestParser(schema, loadConfig({}, 'serve'), null);
  const query = `{ ${'a { '.repeat(200)}`;

  await expect(parse(request, Buffer.from(JSON.stringify({ query })), null)).rejects.toMatchObject({
    errors: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }],
  });
});
