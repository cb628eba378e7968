import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { buildSchema } from 'postgraphile/graphql';
import { loadConfig } from '../../src/config.ts';
import { createRequestParser } from '../../src/graphql/endpoint.ts';

// Without a database: what a request keeps in memory until it is answered.

const config = loadConfig({}, 'serve');
const parser = createRequestParser(buildSchema('type Query { name(of: [Int!], and: Int): String }'), config, null);

async function parse(body: unknown) {
  const request = Object.assign(new IncomingMessage(new Socket()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  return (await parser.parse(request, Buffer.from(JSON.stringify(body)), null)).parameters.variables;
}

const query =
  'query One($of: [Int!], $and: Int) { name(of: $of, and: $and) } query Other($and: Int) { name(and: $and) }';

test('a request keeps the variables that its operation declares', async () => {
  const variables = await parse({ query, operationName: 'One', variables: { of: [1, 2], and: null } });

  expect(variables).toEqual({ of: [1, 2], and: null });
});

test('a request keeps no variable that only another operation declares, or none', async () => {
  const objects = Array.from({ length: 1000 }, () => ({}));

  expect(await parse({ query, operationName: 'Other', variables: { of: [1, 2], and: 3, objects } })).toEqual({
    and: 3,
  });
});
