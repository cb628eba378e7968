import { readFileSync } from 'node:fs';
import { buildSchema, getIntrospectionQuery } from 'postgraphile/graphql';
import { type WrongRequest, wrongRequests } from '../../test/http/wrongRequests.ts';
import { some, worstDocuments } from '../data/worstDocuments.ts';
import { anonymous, asked, type Shape, sent, streams, worst } from './shape.ts';

const users = (n: number, selection: string) => `query Q${n} { app { users(first: 1000) { ${selection} } } }`;
const aliases = (count: number, field: string) => some(count, (i) => `${field}_${i}: ${field}`);
const equalFields = (count: number) => some(count, () => 'types { fields(includeDeprecated: true) { name } }');
const names = (count: number) => asked((n) => users(n, `nodes { ${aliases(count, 'fullName')} }`));
/** An answer of nearly as many bytes as one may have. */
const longAnswer = names(35);
const thousandFields = worst('1,000 fields, 100 connections, 20 root fields');
const conditions = Array.from({ length: 20 }, (_, i) => `$c${i}: Boolean!`).join(' ');
const identifiers = Array.from({ length: 1000 }, (_, i) => `user-${i}`);

/** The values of a variable that the document does not declare. */
const manyObjects = JSON.stringify({
  query: 'mutation { userUpdate(externalIdentifier: "user-1", locale: "en") { user { id } } }',
  variables: { x: Array.from({ length: 300_000 }, () => ({})) },
});
/** 980 units, 40 times the id of each. */
const longUpdate = `mutation { unitUpdate(externalIdentifier: "0", name: "Unit 0") { unit { children { nodes { children { nodes { ${aliases(40, 'id')} } } } } } } }`;

const signIn = (username: (n: number) => string, password: string): Shape => ({
  hasToken: false,
  write: (n) => ({ form: { grant_type: 'password', client_id: 'busy', username: username(n), password } }),
});

const schema = buildSchema(readFileSync(new URL('../../test/graphql/schema.graphql', import.meta.url), 'utf8'));

/** The neighbour's requests. */
export const small = '{ app { users(first: 3) { nodes { id fullName } } } }';

/** People of the organization `Busy`, as provisioning reads them. */
export const people = Array.from({ length: 16 }, (_, n) => ({
  externalIdentifier: `b-${n}`,
  fullName: `B ${n}`,
  email: `b-${n}@busy.test`,
  password: 'the right password',
}));

const strangers: Readonly<Record<string, Shape>> = {
  'strangers: 300 equal fields': anonymous((n) => `query Q${n} { __schema { ${equalFields(300)} } }`),
  'strangers: 300 equal fields in 150 fragments': anonymous(
    (n) =>
      `query Q${n} { __schema { ${some(150, (i) => `...F${i}`)} } } ${some(150, (i) => `fragment F${i} on __Schema { ${equalFields(2)} }`)}`,
  ),
  'strangers: introspection': anonymous((n) => getIntrospectionQuery().replace('IntrospectionQuery', `Q${n}`)),
  'strangers: broken documents': anonymous((n) => `query Q${n} { ${'a { '.repeat(300)}`),
  'strangers: without a token': anonymous((n) => `query Q${n} { app { name } }`),
  'strangers on 300 connections': { ...anonymous((n) => `query Q${n} { app { name } }`), connections: 300 },
};

const signingIn: Readonly<Record<string, Shape>> = {
  tokens: { hasToken: false, write: () => ({ form: { grant_type: 'client_credentials', client_id: 'busy' } }) },
  'signing in': signIn((n) => `nobody-${n}@busy.test`, 'a wrong one'),
  'signing in with the right password': signIn((n) => `b-${n % people.length}@busy.test`, 'the right password'),
};

/** Answers that take long to write, to compress or to send, or much memory to keep. */
const answers: Readonly<Record<string, Shape>> = {
  '45 names of 1,000 users': names(45),
  '8 names of 1,000 users': names(8),
  '8 names of 1,000 users, not read': { ...names(8), connections: 40, manner: 'unread' },
  '35 names of 1,000 users, not read': { ...longAnswer, manner: 'unread' },
  '35 names of 1,000 users, slowly read': { ...longAnswer, manner: 'slowly read' },
  '35 names of 1,000 users, compressed': sent((n, known) => ({
    ...longAnswer.write(n, known),
    headers: { 'Accept-Encoding': 'br' },
  })),
  '22 long aliases of 1,000 users': asked((n) =>
    users(n, `nodes { ${some(22, (i) => `${'long'.repeat(50)}${i}: fullName`)} }`),
  ),
  '10,000 rows': worst('10,000 rows'),
  '1,000 rows of everything': worst('1,000 rows, each with a token and a card'),
  '1,000 rows of everything, aborted': { ...worst('1,000 rows, each with a token and a card'), manner: 'aborted' },
  '1,000 changes with their nodes': asked(
    (n) =>
      `query Q${n} { app { changes(first: 1000) { nodes { operation node { ... on User { fullName cardAssignments { card { name } } } ... on Unit { name } } } } } }`,
  ),
};

/** Requests that take PostgreSQL long. */
const statements: Readonly<Record<string, Shape>> = {
  '45 counts in another order': asked(
    (n) =>
      `query Q${n} { app { ${some(45, (i) => `a${i}: users(orderBy: EXTERNAL_IDENTIFIER_DESC) { totalCount }`)} } }`,
  ),
  '18 counts': asked((n) => `query Q${n} { app { ${some(18, (i) => `a${i}: users { totalCount }`)} } }`),
  '18 counts of 1,000 by their identifiers': sent((n) => ({
    query: `query Q${n}($of: [String!]) { app { ${some(18, (i) => `a${i}: users(externalIdentifiers: $of) { totalCount }`)} } }`,
    variables: { of: identifiers },
  })),
  '18 updates of one user': asked(
    (n) =>
      `mutation Q${n} { ${some(18, (i) => `a${i}: userUpdate(externalIdentifier: "user-1", locale: "en") { user { id } }`)} }`,
  ),
  'syncs of 1,000 users with tokens, tried dry': sent((n) => ({
    query: 'mutation($users: [UserSyncInput!]!) { usersSync(users: $users, dryRun: true) { results { outcome } } }',
    variables: {
      users: identifiers.map((id, i) => ({
        ...newUser(id),
        externalAuthenticationToken: `${n}-token-of-${i}-and-more`,
      })),
    },
  })),
  '20 users by node': asked(
    (n, { ids }) =>
      `query Q${n} { ${some(20, (i) => `a${i}: node(id: "${ids[(n + i) % ids.length]}") { ... on User { fullName } }`)} }`,
  ),
  'webhooks that fail': asked((n) =>
    n < 10
      ? `mutation { webhookCreate(url: "https://hooks-${n}.invalid/") { webhook { id } } }`
      : `mutation Q${n} { userUpdate(externalIdentifier: "user-${n % 1000}", locale: "${n % 2000 < 1000 ? 'de' : 'en'}") { user { id } } }`,
  ),
};

/** Documents that take long to parse, to validate and to plan. */
const documents: Readonly<Record<string, Shape>> = {
  'a small query, new each time': asked((n) => `query Q${n} { app { users(first: 3) { nodes { id fullName } } } }`),
  '20 lists of users and cards, new each time': asked((n) => `query Q${n} { app { ${some(20, usersAndCards)} } }`),
  'a list of 900 long literals, new each time': asked(
    (n) =>
      `query { app { users(externalIdentifiers: [${some(900, (i) => `"${`${n}-${i}-`.padEnd(100, 'x')}"`)}]) { nodes { id } } } }`,
  ),
  'documents of 1,000 fields that come twice': {
    ...thousandFields,
    write: (n, known) => thousandFields.write(n >> 1, known),
  },
  'one document with 20 conditions': sent((n) => ({
    query: `query(${conditions}) { app { ${some(20, (i) => `a${i}: users(first: 1) @include(if: $c${i}) { nodes { fullName cardAssignments { card { name } } } }`)} } }`,
    variables: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, ((n >> i) & 1) === 1])),
  })),
  '100 levels': worst('100 levels of nodes'),
  '1,000 fields, 100 connections': thousandFields,
  '306 parents': worst('306 parents in a row'),
  '140 levels up and down the tree': worst('up and down the tree, one unit at a time'),
  '20,000 rows, refused': worst('20,000 rows, were they allowed'),
  'introspection with a token': worst('introspection as GraphQL.js does it'),
  '490 times the same field': worst('490 times the same field'),
  '100 fragments in conflict': worst('100 fragments in conflict'),
  'broken documents': asked((n) => `query Q${n} { ${'a { '.repeat(300)}`),
};

/** Requests that use HTTP in another manner. */
const requests: Readonly<Record<string, Shape>> = {
  'a small query': asked(() => small),
  'a small query on 300 connections': { ...asked(() => small), connections: 300 },
  'a small query on a new connection': { ...asked(() => small), manner: 'reconnecting' },
  'a small query, 64 at once on a connection': { ...asked(() => small), manner: 'pipelined' },
  'bodies of 300,000 objects': sent(() => ({ body: manyObjects })),
  'bodies of 300,000 objects, in pieces': sent(() => ({ body: manyObjects }), 'in pieces'),
  'long answers kept for idempotency keys': sent((n) => ({
    query: longUpdate,
    headers: { 'Idempotency-Key': `"a-key-that-is-new-${n}"` },
  })),
  'one long answer by its idempotency key': sent(() => ({
    query: longUpdate,
    headers: { 'Idempotency-Key': '"the-same-key-again"' },
  })),
};

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]));
/** The same body each time. To write it anew would take this process longer than the service to read it. */
const same = (path: string, value: object): Shape => {
  const body = JSON.stringify(value);
  return sent(() => ({ path, headers: { 'Content-Type': 'application/json' }, body }));
};
const wrongCards = (row: object): Shape =>
  same('/graphql', {
    query: 'mutation($cards: [CardSyncInput!]!) { cardsSync(cards: $cards) { results { outcome } } }',
    variables: { cards: [row] },
  });
const ids = (value: unknown): Shape =>
  same('/graphql', {
    query: 'query($ids: [ID!]) { app { users(ids: $ids) { totalCount } } }',
    variables: { ids: value },
  });
const decision = (properties: object): Shape =>
  same('/access/v1/evaluation', {
    subject: { type: 'user', id: 'user-1', properties },
    action: { name: 'enter' },
    resource: { type: 'unit', id: '0' },
  });
/** Those of one endpoint, one after the other in an order that mixes places and values. */
const wrongOf = (isMeant: (request: WrongRequest) => boolean): Shape => {
  const requests = wrongRequests(schema).filter(isMeant);
  return sent((n) => {
    const { path, headers, body } = requests[(n * 7919) % requests.length] as WrongRequest;
    return { path, headers, body: body() };
  });
};

/** Requests that are refused for what is in them, and some that are as heavy as may be. */
const wrong: Readonly<Record<string, Shape>> = {
  'wrong: 90,000 unknown fields of a card': wrongCards(keys(90_000)),
  'wrong: 19,000 unknown fields of a card': wrongCards(keys(19_000)),
  'wrong: 51 unknown fields beside a long text': wrongCards({ ...keys(51), name: 'x'.repeat(980_000) }),
  'wrong: an object for ids': ids(keys(19_000)),
  'wrong: a long text for ids': ids('x'.repeat(980_000)),
  'wrong: 490,000 numbers for ids': ids(Array(490_000).fill(1)),
  'wrong: 140,000 numbers for ids': ids(Array(140_000).fill(1)),
  'wrong: 90,000 undeclared variables': same('/graphql', { query: small, variables: keys(90_000) }),
  'wrong: 19,000 undeclared variables': same('/graphql', { query: small, variables: keys(19_000) }),
  'wrong: decisions with 90,000 properties': decision(keys(90_000)),
  'wrong: decisions with 19,000 properties': decision(keys(19_000)),
  'wrong: one variable': wrongOf(({ name }) => name.startsWith('/graphql') && name.includes('$v')),
  'wrong: one literal': wrongOf(({ name }) => name.includes('in the document')),
  'wrong: one member or header': wrongOf(({ name }) => name.startsWith('/graphql {') || / [A-Z][\w-]+: /.test(name)),
  'wrong: one decision': wrongOf(({ path }) => path.startsWith('/access')),
  'wrong: one form': wrongOf(({ path }) => path.startsWith('/oauth')),
};

const streaming: Readonly<Record<string, Shape>> = {
  '50 streams of what was written': streams('operation id'),
  '50 streams of what was written, not read': { ...streams('operation id'), manner: 'unread' },
  '50 streams with objects': streams(
    'id node { ... on User { fullName cardAssignments { card { name } } } ... on Unit { name parent { name } } }',
  ),
};

const oneAtATime = Object.fromEntries(
  Object.entries(worstDocuments).map(([name, write]) => [
    `${name}, one at a time`,
    { ...asked(write), connections: 1 },
  ]),
);

/** By what is worst about them; several at once are sent by one organization. */
export const shapes: Readonly<Record<string, Shape | readonly Shape[]>> = {
  ...{ ...strangers, ...signingIn, ...answers, ...statements, ...documents, ...requests, ...wrong, ...streaming },
  'signing in, not reading and planning at once': [
    signingIn['signing in with the right password'],
    answers['8 names of 1,000 users, not read'],
    documents['1,000 fields, 100 connections'],
  ].filter((shape) => shape !== undefined),
  ...oneAtATime,
};

function usersAndCards(i: number) {
  return `a${i}: users(first: ${i + 1}) { nodes { fullName cardAssignments { card { name } } } }`;
}

function newUser(id: string) {
  return { externalIdentifier: id, fullName: `${id} anew`, email: `${id}@anew.test` };
}
