import { readFile, writeFile } from 'node:fs/promises';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  isEnumType,
  isInterfaceType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'postgraphile/graphql';
import { shareService } from '../support/sharedService.ts';
import { type GraphTest, read } from './support.ts';

let graph: GraphTest;
let schema: GraphQLSchema;
beforeAll(async () => {
  graph = await shareService();
  const query = getIntrospectionQuery({
    ...{ inputValueDeprecation: true, specifiedByUrl: true, schemaDescription: true, oneOf: true },
  });
  schema = lexicographicSortSchema(buildClientSchema(await read(graph, null, query)));
});

test('the schema is that of schema.graphql, which a person has reviewed (UPDATE_GOLDEN=1 writes it, npm run format lays it out)', async () => {
  const golden = new URL('schema.graphql', import.meta.url);
  if (process.env.UPDATE_GOLDEN) await writeFile(golden, printSchema(schema));

  const reviewed = buildSchema(await readFile(golden, 'utf8'));

  expect(printSchema(schema)).toBe(printSchema(lexicographicSortSchema(reviewed)));
});

const unitPage =
  'after: Cursor, before: Cursor, externalIdentifiers: [String!], first: Int, ids: [ID!], last: Int, orderBy: [UnitOrderBy!] = [PRIMARY_KEY_ASC]';
const userPage = unitPage
  .replace('UnitOrderBy', 'UserOrderBy')
  .replace('externalIdentifiers', 'emails: [String!], externalIdentifiers');
const grantPage = unitPage.replace('UnitOrderBy', 'AccessGrantOrderBy').replace('externalIdentifiers: [String!], ', '');
const cardPage = unitPage
  .replace('UnitOrderBy', 'CardOrderBy')
  .replace('before: Cursor,', 'beacons: [BeaconInput!], before: Cursor,')
  .replace('orderBy', 'nfcIdentifiers: [String!], orderBy');
const times = { createdAt: 'Datetime!', updatedAt: 'Datetime!' };
const card = {
  id: 'ID!',
  name: 'String!',
  externalIdentifier: 'String',
  cardAssignments: '[CardAssignment!]!',
  ...times,
};
const connection = (type: string) => ({
  nodes: `[${type}!]!`,
  edges: `[${type}Edge!]!`,
  pageInfo: 'PageInfo!',
  totalCount: 'Int!',
});

// The fields that clients rely on, type by type. Only the golden file has the fields that migrations add.
test.each<[string, string[], Record<string, string>]>([
  ['Query', [], { viewer: 'User', app: 'App', 'node(id: ID!)': 'Node' }],
  [
    'App',
    [],
    {
      name: 'String!',
      [`users(${userPage})`]: 'UserConnection!',
      [`rootUnits(${unitPage})`]: 'UnitConnection!',
      [`units(${unitPage})`]: 'UnitConnection!',
      [`cards(${cardPage})`]: 'CardConnection!',
    },
  ],
  ['Node', [], { id: 'ID!' }],
  [
    'User',
    ['Node'],
    {
      id: 'ID!',
      fullName: 'String!',
      email: 'String!',
      locale: 'String!',
      timeZone: 'String!',
      externalIdentifier: 'String',
      externalAuthenticationToken: 'String',
      cardAssignments: '[CardAssignment!]!',
      [`accessibleUnits(${unitPage})`]: 'UnitConnection!',
      [`accessGrants(${grantPage})`]: 'AccessGrantConnection!',
      ...times,
    },
  ],
  [
    'Unit',
    ['Node'],
    {
      id: 'ID!',
      name: 'String!',
      externalIdentifier: 'String',
      parent: 'Unit',
      [`children(${unitPage})`]: 'UnitConnection!',
      [`accessGrants(${grantPage})`]: 'AccessGrantConnection!',
      [`usersWithAccess(${userPage})`]: 'UserConnection!',
      ...times,
    },
  ],
  ['AccessGrant', ['Node'], { id: 'ID!', user: 'User!', unit: 'Unit!', createdAt: 'Datetime!' }],
  ['CardAssignment', ['Node'], { id: 'ID!', card: 'Card!', user: 'User!', createdAt: 'Datetime!' }],
  ['Card', ['Node'], card],
  ['BeaconCard', ['Card', 'Node'], { ...card, proximityUuid: 'UUID!', major: 'Int!', minor: 'Int!' }],
  ['NfcCard', ['Card', 'Node'], { ...card, nfcIdentifier: 'String!' }],
  ['IdentificationCode', ['Card', 'Node'], card],
  ['UserConnection', [], connection('User')],
  ['UnitConnection', [], connection('Unit')],
  ['UserEdge', [], { node: 'User!', cursor: 'Cursor' }],
  ['UnitEdge', [], { node: 'Unit!', cursor: 'Cursor' }],
  [
    'PageInfo',
    [],
    { hasNextPage: 'Boolean!', hasPreviousPage: 'Boolean!', startCursor: 'Cursor', endCursor: 'Cursor' },
  ],
  [
    'Mutation',
    [],
    {
      'userCreate(email: String!, externalAuthenticationToken: String, externalIdentifier: String, fullName: String!, locale: String, timeZone: String, timezone: String)':
        'UserCreatePayload',
      'userUpdate(email: String, externalAuthenticationToken: String, externalIdentifier: String, fullName: String, id: ID, locale: String, timeZone: String, timezone: String)':
        'UserUpdatePayload',
      'userDelete(externalIdentifier: String, id: ID)': 'UserDeletePayload',
    },
  ],
  ['UserCreatePayload', [], { user: 'User' }],
  ['UserUpdatePayload', [], { user: 'User' }],
  ['UserDeletePayload', [], { user: 'User' }],
])('%s has the fields that clients rely on', (name, interfaces, fields) => {
  const type = schema.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${name} is no type with fields`);

  const found = Object.values(type.getFields()).map((field) => {
    const args = field.args.map(({ name, type, defaultValue }) =>
      defaultValue === undefined ? `${name}: ${type}` : `${name}: ${type} = [${defaultValue}]`,
    );
    return [args.length > 0 ? `${field.name}(${args.join(', ')})` : field.name, String(field.type)];
  });

  expect(Object.fromEntries(found)).toMatchObject(fields);
  expect(type.getInterfaces().map(String)).toEqual(interfaces);
});

test('there is no other way into the graph', () => {
  expect(Object.keys(schema.getQueryType()?.getFields() ?? {}).sort()).toEqual(['app', 'node', 'viewer']);
});

test.each([
  ['UnitOrderBy', ['EXTERNAL_IDENTIFIER', 'NAME', 'PRIMARY_KEY']],
  ['UserOrderBy', ['EMAIL', 'EXTERNAL_IDENTIFIER', 'FULL_NAME', 'PRIMARY_KEY']],
])('%s has exactly these orders', (name, orders) => {
  const type = schema.getType(name);

  const values = isEnumType(type) ? type.getValues().map((value) => value.name) : [];

  expect(values).toEqual(orders.flatMap((order) => [`${order}_ASC`, `${order}_DESC`]));
});

test('timezone alone is deprecated', () => {
  const deprecated = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).flatMap((field) => [
          ...(field.deprecationReason ? [`${type.name}.${field.name}`] : []),
          ...field.args.flatMap(({ name, deprecationReason }) =>
            deprecationReason ? [`${field.name}(${name}): ${deprecationReason}`] : [],
          ),
        ])
      : [],
  );

  expect(deprecated).toEqual(['userCreate(timezone): Use timeZone.', 'userUpdate(timezone): Use timeZone.']);
});

test('everything a client may write or read is described', () => {
  const bare = Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => {
      const members = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const args = members.flatMap((field) =>
        field.args.map((arg) => ({ ...arg, name: `${field.name}(${arg.name})` })),
      );
      return [type, ...members, ...args].filter(({ description }) => !description).map((item) => item.name);
    });

  expect(bare).toEqual([]);
});

test('changes are all that there is to subscribe to', () => {
  expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual(['changes']);
});
