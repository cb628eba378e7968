import { buildSchema, graphqlSync } from 'postgraphile/graphql';
import { withIds } from '../../../src/pages/why/createWhyRouter.ts';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Unit implements Node { id: ID! name: String }
  type App { name: String units: [Unit!]! }
  type Query { app: App node(id: ID!): Node }
  type Mutation { unitCreate(name: String): UnitPayload }
  type UnitPayload { unit: Unit }
`);
const unit = { __typename: 'Unit', id: 'u-1', name: 'Depot' };
const rootValue = { app: { name: 'Demo', units: [unit] }, node: unit, unitCreate: { unit } };
const trace = (source: string, variables = {}) => withIds(schema, source, variables, 1000);
const run = (source: string) => JSON.parse(JSON.stringify(graphqlSync({ schema, source, rootValue })));

test.each([
  ['a query', '{ app { name units { name } } }'],
  ['a mutation', 'mutation { unitCreate(name: "Depot") { made: unit { name } } }'],
  ['what selects the id already, as another name, too', '{ node(id: "u-1") { id key: id } }'],
  ['a name that is another field', '{ node(id: "u-1") { ... on Unit { id: name } } }'],
])('%s has the ids of its objects besides, and else the same answer', (_, source) => {
  const { query, idKey } = trace(source);
  const traced = run(query);

  expect(traced.errors).toBeUndefined();
  expect(JSON.stringify(traced)).toContain(`"${idKey}":"u-1"`);
  const others = JSON.parse(JSON.stringify(traced, (key, value) => (key === idKey ? undefined : value)));
  expect(others).toEqual(run(source));
});

test('aliases that are names in JavaScript are keys like others', () => {
  const { asked, fields } = trace(
    'query ($id: ID!) { constructor: node(id: $id) { id } __proto__: app { toString: name } }',
    {
      id: 'u-1',
    },
  );

  expect(Object.entries(asked)).toEqual([['constructor', 'u-1']]);
  expect(fields.toString).toEqual(['name']);
});

test('a document that is too long, too deep or none is refused', () => {
  expect(() => trace(`{ app { ${'name '.repeat(2000)} } }`)).toThrow();
  expect(() => trace(`${'{a'.repeat(300_000)}${'}'.repeat(300_000)}`)).toThrow();
  expect(() => trace('{')).toThrow('Syntax Error');
  expect(trace('{ app { name } }').query).toContain('name');
});
