import { buildSchema, getVariableValues, Kind, parse, validate } from 'postgraphile/graphql';
import { createExamples } from '../../src/pages/documentation/createExamples.ts';

// Examples for tables, functions and input objects of a later migration.
const schema = buildSchema(`
  type Query { app: App  node(id: ID!): Node  version: String! }
  interface Node { id: ID! }
  type App { name: String!  doors(first: Int, names: [String!]): DoorConnection!  keeper(of: ID!): Person!  lobby: Lobby  main: Thing }
  type DoorConnection { nodes: [Door!]!  edges: [DoorEdge!]!  pageInfo: PageInfo! }
  type DoorEdge { node: Door!  cursor: String }
  type PageInfo { hasNextPage: Boolean!  endCursor: String }
  type Door implements Node { id: ID!  name: String!  above: Door  unlockToken: String  openSince(zone: String!): String  keys: [Key!]! }
  type Key implements Node { id: ID!  issuedOn: Date!  number: Int! }
  type Person implements Node { id: ID!  number: String! }
  type Lobby { doors(first: Int!): DoorConnection! }
  union Thing = Door | Key | Person
  type Mutation {
    doorCreate(unitId: ID!, name: String!, level: Level!, otherId: ID, secret: String, note: String @deprecated): DoorCreatePayload
    doorsCreate(doors: [DoorInput!]!, dryRun: Boolean! = false): DoorsCreatePayload
    keyIssue(by: KeyChoice!, day: Date!): KeyIssuePayload
    purge: PurgePayload
  }
  type Subscription { doors(after: Int): Door!  keys(of: ID!): Key! }
  type DoorCreatePayload { door: Door }
  type DoorsCreatePayload { doors: [Door!] }
  type KeyIssuePayload { key: Key }
  type PurgePayload { ok: Boolean! }
  input DoorInput { unitId: ID!  name: String!  openings: [Int!]  inside: DoorInput }
  input KeyChoice @oneOf { number: Int  name: String }
  enum Level { LOW HIGH }
  scalar Date
`);

const examples = createExamples(schema);

it('each operation of any schema has an example', () => {
  expect([...examples.keys()].toSorted()).toEqual([
    'App.doors',
    'App.keeper',
    'App.lobby',
    'App.main',
    'Mutation.doorCreate',
    'Mutation.doorsCreate',
    'Mutation.keyIssue',
    'Mutation.purge',
    'Query.app',
    'Query.node',
    'Query.version',
    'Subscription.doors',
    'Subscription.keys',
  ]);
});

it.each([...examples])('the example of %s is valid', (_, { document, variables }) => {
  const parsed = parse(document);
  const [operation] = parsed.definitions;

  expect(validate(schema, parsed)).toEqual([]);
  expect(operation?.kind).toBe(Kind.OPERATION_DEFINITION);
  const declared = operation?.kind === Kind.OPERATION_DEFINITION ? (operation.variableDefinitions ?? []) : [];
  expect(declared.map(({ variable }) => variable.name.value)).toEqual(Object.keys(variables));
  expect(getVariableValues(schema, declared, variables)).not.toHaveProperty('errors');
});

it('an example takes what is needed and what changes something, and shows no credential', () => {
  expect(examples.get('Mutation.doorCreate')?.variables).toEqual({ unitId: 'UNIT_ID', name: 'Example', level: 'LOW' });
  expect(examples.get('Mutation.doorsCreate')?.variables.doors).toEqual([
    { unitId: 'UNIT_ID', name: 'Example', openings: [1] },
  ]);
  expect(examples.get('Mutation.keyIssue')?.variables).toEqual({ by: { number: 1 }, day: '2026-01-31' });
  expect(examples.get('App.doors')?.document).toBe(`query AppDoors($first: Int) {
  app {
    doors(first: $first) {
      nodes {
        id
        name
        above {
          id
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`);
});
