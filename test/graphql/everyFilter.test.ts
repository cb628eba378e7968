import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  type IntrospectionQuery,
  isObjectType,
} from 'graphql';
import { shareService } from '../support/sharedService.ts';
import { argumentsOf, type ConnectionField, connectionsBelow } from './connectionFields.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createViewer,
  type GraphTest,
  globalId,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';

// Every filter and order that the schema shows works, for each role and on each way to it.

let graph: GraphTest;
let tenant: Tenant;
let person: Awaited<ReturnType<typeof createViewer>>;
let other: Awaited<ReturnType<typeof createViewer>>;
let schema: GraphQLSchema;
let ids: readonly (readonly [type: string, id: string])[];
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  schema = buildClientSchema(await read<IntrospectionQuery>(graph, null, getIntrospectionQuery()));
  person = await createViewer(tenant, { email: 'Own@acme.test', externalIdentifier: 'own' });
  other = await createViewer(tenant, { email: 'other@acme.test', externalIdentifier: 'other' });
  const unit = await createUnit(tenant, { externalIdentifier: 'hq' });
  await createUnit(tenant, { parent: unit });
  for (const user of [person, other]) await grantAccess(tenant, user, unit);
  const cards = [
    await createCard(tenant, person, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' }),
    await createCard(tenant, person, { type: 'IdentificationCode', name: 'PIN' }),
    await createCard(tenant, person, {
      type: 'BeaconCard',
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 1,
      minor: 2,
    }),
  ];
  const { webhookCreate } = await read<{ webhookCreate: { webhook: { id: string } } }>(
    graph,
    tenant.app,
    'mutation { webhookCreate(url: "https://example.com/hook") { webhook { id } } }',
  );
  ids = [
    ['User', person.id],
    ['User', other.id],
    ['Unit', unit.id],
    ...cards.map(({ assignmentId }) => ['CardAssignment', assignmentId] as const),
    ['NfcCard', cards[0]?.cardId ?? ''],
    ['IdentificationCode', cards[1]?.cardId ?? ''],
    ['BeaconCard', cards[2]?.cardId ?? ''],
    ['Webhook', webhookCreate.webhook.id],
    ['Unit', globalId('Unit', '01900000-0000-7000-8000-000000000000')],
  ];
});

const root = (field: string) => (inner: string) => `{ ${field} { ${inner} } }`;
/** Those of an object itself. */
const ofNodes = () =>
  ids.flatMap(([type, id]) =>
    connectionsBelow(schema, type, (inner) => `{ node(id: "${id}") { ... on ${type} { ${inner} } } }`).filter(
      ({ name }) => name.startsWith(`${type}.`),
    ),
  );

test.each<[role: string, token: () => string, fields: () => ConnectionField[], atLeast: number]>([
  ['an application', () => tenant.app, () => [...connectionsBelow(schema, 'App', root('app')), ...ofNodes()], 100],
  ['a person', () => person.token, () => [...connectionsBelow(schema, 'User', root('viewer')), ...ofNodes()], 100],
  ['a basic token', () => tenant.basic, ofNodes, 50],
])('each works for %s', async (_role, token, fields, atLeast) => {
  let asked = 0;
  const failures: string[] = [];

  for (const { name, field, selecting } of fields()) {
    const given = argumentsOf(field);
    if (given.length === 0) continue;
    asked += given.length;
    const type = getNamedType(field.type);
    // A page of the feed does not say how many changes there are.
    const count = isObjectType(type) && 'totalCount' in type.getFields() ? 'totalCount' : '';
    const select = (argument: string) => `${field.name}(first: 1, ${argument}) { ${count} nodes { __typename } }`;
    const errorsOf = async (inner: string) => (await ask(graph, token(), selecting(inner))).body.errors;
    if (!(await errorsOf(given.map((argument, index) => `a${index}: ${select(argument)}`).join(' ')))) continue;
    for (const argument of given) if (await errorsOf(select(argument))) failures.push(`${name}(${argument})`);
    failures.push(`${name} with all of them`);
  }
  expect(failures).toEqual([]);
  expect(asked).toBeGreaterThan(atLeast);
});

test('a person finds themselves by e-mail address among those with access, and nobody else', async () => {
  const found = async (token: string, emails: string[]) => {
    const query =
      'query ($emails: [String!]) { viewer { accessibleUnits { nodes { usersWithAccess(emails: $emails) { nodes { email } } } } } }';
    const { viewer } = await read<{
      viewer: { accessibleUnits: { nodes: { usersWithAccess: { nodes: { email: string }[] } }[] } };
    }>(graph, token, query, { emails });
    return viewer.accessibleUnits.nodes.map(({ usersWithAccess }) => usersWithAccess.nodes.map(({ email }) => email));
  };

  expect(await found(person.token, ['own@ACME.test', 'other@acme.test'])).toEqual([
    ['Own@acme.test'],
    ['Own@acme.test'],
  ]);
  expect(await found(person.token, ['other@acme.test'])).toEqual([[], []]);
  expect(await found(other.token, ['other@acme.test'])).toEqual([['other@acme.test'], ['other@acme.test']]);
});
