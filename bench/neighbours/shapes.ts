import { getIntrospectionQuery } from 'postgraphile/graphql';
import { some, worstDocuments } from '../data/worstDocuments.ts';

/** What one caller sends again and again. */
export type Shape = {
  /** Without one it is a stranger. */
  readonly hasToken: boolean;
  /** 16 unless said. */
  readonly connections?: number;
  /** Leaves the answers where they are. */
  readonly isUnread?: boolean;
  /** A GraphQL document, or a form for the token endpoint; new for each number. The ids are of users, the cursor is early in the feed. */
  readonly write: (
    number: number,
    ids: readonly string[],
    cursor: string,
  ) => { readonly query: string; readonly variables?: object } | { readonly form: Record<string, string> };
};

const asked = (query: (number: number, ids: readonly string[], cursor: string) => string): Shape => ({
  hasToken: true,
  write: (n, ids, cursor) => ({ query: query(n, ids, cursor) }),
});
const streams = (selection: string): Shape => ({
  ...asked((n, _ids, cursor) => `subscription Q${n} { changes(after: "${cursor}") { ${selection} } }`),
  connections: 50,
});
const anonymous = (query: (number: number) => string): Shape => ({ ...asked((n) => query(n)), hasToken: false });

/** 1,000 people whom a sync would change, each with a token and an address of its own. */
const synced = (n: number) =>
  Array.from({ length: 1000 }, (_, i) => ({
    externalIdentifier: `synced-${i}`,
    fullName: `Synced ${n}`,
    email: `synced-${i}@busy.test`,
    externalAuthenticationToken: `token-of-synced-${i}-${n}`,
  }));

const users = (n: number, selection: string) => `query Q${n} { app { users(first: 1000) { ${selection} } } }`;
const aliases = (count: number, field: string) => some(count, (i) => `${field}_${i}: ${field}`);
const equalFields = (count: number) => some(count, () => 'types { fields(includeDeprecated: true) { name } }');

/** A worst document by its name. @throws when there is none */
function worst(name: string): Shape {
  const write = worstDocuments[name];
  if (!write) throw new Error(`There is no document "${name}".`);
  return asked(write);
}

/** By what is worst about them. */
export const shapes: Readonly<Record<string, Shape>> = {
  'strangers: 300 equal fields': anonymous((n) => `query Q${n} { __schema { ${equalFields(300)} } }`),
  'strangers: 300 equal fields in 150 fragments': anonymous(
    (n) =>
      `query Q${n} { __schema { ${some(150, (i) => `...F${i}`)} } } ${some(150, (i) => `fragment F${i} on __Schema { ${equalFields(2)} }`)}`,
  ),
  'strangers: introspection': anonymous((n) => getIntrospectionQuery().replace('IntrospectionQuery', `Q${n}`)),
  'strangers: broken documents': anonymous((n) => `query Q${n} { ${'a { '.repeat(300)}`),
  'strangers: without a token': anonymous((n) => `query Q${n} { app { name } }`),
  '45 names of 1,000 users': asked((n) => users(n, `nodes { ${aliases(45, 'fullName')} }`)),
  '8 names of 1,000 users': asked((n) => users(n, `nodes { ${aliases(8, 'fullName')} }`)),
  '8 names of 1,000 users, not read': {
    ...asked((n) => users(n, `nodes { ${aliases(8, 'fullName')} }`)),
    connections: 40,
    isUnread: true,
  },
  '22 long aliases of 1,000 users': asked((n) =>
    users(n, `nodes { ${some(22, (i) => `${'long'.repeat(50)}${i}: fullName`)} }`),
  ),
  '10,000 rows': worst('10,000 rows'),
  '1,000 rows of everything': worst('1,000 rows, each with a token and a card'),
  '45 counts in another order': asked(
    (n) =>
      `query Q${n} { app { ${some(45, (i) => `a${i}: users(orderBy: EXTERNAL_IDENTIFIER_DESC) { totalCount }`)} } }`,
  ),
  '18 counts': asked((n) => `query Q${n} { app { ${some(18, (i) => `a${i}: users { totalCount }`)} } }`),
  '18 updates of one user': asked(
    (n) =>
      `mutation Q${n} { ${some(18, (i) => `a${i}: userUpdate(externalIdentifier: "user-1", locale: "en") { user { id } }`)} }`,
  ),
  '100 levels': worst('100 levels of nodes'),
  '1,000 fields, 100 connections': worst('1,000 fields, 100 connections, 20 root fields'),
  '306 parents': worst('306 parents in a row'),
  '20,000 rows, refused': worst('20,000 rows, were they allowed'),
  'introspection with a token': worst('introspection as GraphQL.js does it'),
  '490 times the same field': worst('490 times the same field'),
  '100 fragments in conflict': worst('100 fragments in conflict'),
  '20 users by node': asked(
    (n, ids) =>
      `query Q${n} { ${some(20, (i) => `a${i}: node(id: "${ids[(n + i) % ids.length]}") { ... on User { fullName } }`)} }`,
  ),
  '50 streams of what was written': streams('operation id'),
  '50 streams of what was written, not read': { ...streams('operation id'), isUnread: true },
  '50 streams with objects': streams(
    'id node { ... on User { fullName cardAssignments { card { name } } } ... on Unit { name parent { name } } }',
  ),
  'broken documents': asked((n) => `query Q${n} { ${'a { '.repeat(300)}`),
  'a small query': asked(() => small),
  'a small query on 300 connections': { ...asked(() => small), connections: 300 },
  'strangers on 300 connections': { ...anonymous((n) => `query Q${n} { app { name } }`), connections: 300 },
  'a small query, new each time': asked((n) => `query Q${n} { app { users(first: 3) { nodes { id fullName } } } }`),
  '20 lists with cards, new each time': asked(
    (n) =>
      `query Q${n} { app { ${some(20, (i) => `a${i}: users(first: ${i + 1}) { nodes { fullName cardAssignments { card { name } } } }`)} } }`,
  ),
  'pages of the feed with objects': asked(
    (n) =>
      `query Q${n} { app { changes(first: 1000) { nodes { cursor operation fields node { id ... on User { fullName email } ... on Unit { name } } } } } }`,
  ),
  'syncs of 1,000 users, tried dry': {
    hasToken: true,
    write: (n) => ({
      query:
        'mutation S($users: [UserSyncInput!]!) { usersSync(users: $users, dryRun: true) { results { outcome error { code } } } }',
      variables: { users: synced(n) },
    }),
  },
  tokens: { hasToken: false, write: () => ({ form: { grant_type: 'client_credentials', client_id: 'busy' } }) },
  'signing in': {
    hasToken: false,
    write: (n) => ({
      form: { grant_type: 'password', client_id: 'busy', username: `nobody-${n}@busy.test`, password: 'a wrong one' },
    }),
  },
  ...Object.fromEntries(
    Object.entries(worstDocuments).map(([name, write]) => [
      `${name}, one at a time`,
      { ...asked(write), connections: 1 },
    ]),
  ),
};

/** What the neighbour asks. */
export const small = '{ app { users(first: 3) { nodes { id fullName } } } }';
