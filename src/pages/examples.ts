import { parse, print } from 'postgraphile/graphql';
import { type Scope, scopes } from '../token/scopes.ts';

/** What a token gives access to; each sees other example queries. */
export type TokenKind = 'app' | 'user' | 'basic' | 'none';

/**
 * The kind of a token whose first scope this is.
 * One without examples of its own shares those of `basic`.
 */
export const kindOf = (scope: Scope): TokenKind => {
  if (scopes[scope].holder === 'user') return 'user';
  return scope === 'app' ? scope : 'basic';
};

export type Example = { readonly label: string; readonly query: string; readonly variables?: Record<string, unknown> };

/** As the editor shows it. */
function example(label: string, comment: string, query: string, variables?: Record<string, unknown>): Example {
  return { label, query: `# ${comment}\n${print(parse(query))}\n`, ...(variables && { variables }) };
}

const card =
  'card { __typename name ... on BeaconCard { proximityUuid major minor } ... on NfcCard { nfcIdentifier } }';
const fields = 'query Fields { __schema { queryType { fields { name description } } } }';

/** One click puts one into GraphiQL's editor; the first, without variables, is there at the start. */
export const examples: Record<TokenKind, readonly [Example, ...Example[]]> = {
  app: [
    example(
      'Users',
      'All users of the organization, a page at a time.',
      `query Users {
        app {
          name
          users(first: 5, orderBy: FULL_NAME_ASC) {
            totalCount nodes { id fullName email locale timeZone externalIdentifier } pageInfo { hasNextPage endCursor }
          }
        }
      }`,
    ),
    example(
      'Units',
      'The top of the tree of units, and two levels below it.',
      `query Units {
        app {
          rootUnits(first: 10, orderBy: NAME_ASC) {
            nodes {
              name children { totalCount nodes { name parent { name } children { nodes { name externalIdentifier } } } }
            }
          }
        }
      }`,
    ),
    example(
      'Cards',
      'The cards of each user; there are three types.',
      `query Cards { app { users(first: 10) { nodes { fullName cardAssignments { id ${card} } } } } }`,
    ),
    example(
      'Create a user',
      'Its external identifier lets the next two examples find it again.',
      `mutation CreateUser($fullName: String!, $email: String!, $externalIdentifier: String) {
        userCreate(
          fullName: $fullName, email: $email, locale: "en", timeZone: "London", externalIdentifier: $externalIdentifier
        ) { user { id fullName email timeZone externalIdentifier } }
      }`,
      { fullName: 'Mary Somerville', email: 'mary@example.test', externalIdentifier: 'example-mary' },
    ),
    example(
      'Update it',
      'What is left out stays as it is.',
      `mutation UpdateUser($externalIdentifier: String!, $fullName: String) {
        userUpdate(externalIdentifier: $externalIdentifier, fullName: $fullName) { user { id fullName email } }
      }`,
      { externalIdentifier: 'example-mary', fullName: 'Mary Fairfax Somerville' },
    ),
    example(
      'Delete it',
      'Returns the user as it was.',
      `mutation DeleteUser($externalIdentifier: String!) {
        userDelete(externalIdentifier: $externalIdentifier) { user { id fullName } }
      }`,
      { externalIdentifier: 'example-mary' },
    ),
  ],
  user: [
    example(
      'Me',
      'The person that the token was issued for.',
      'query Me { viewer { id fullName email locale timeZone externalIdentifier } }',
    ),
    example(
      'My units',
      'Every unit granted to me, and all below them.',
      `query MyUnits($first: Int!) {
        viewer {
          accessibleUnits(first: $first) { totalCount nodes { id name parent { name } } pageInfo { hasNextPage endCursor } }
        }
      }`,
      { first: 20 },
    ),
    example(
      'My units as a tree',
      'The same units, each with what is below it.',
      `query MyUnitTree {
        viewer { accessibleUnits(first: 5) { nodes { name children { nodes { name children { totalCount } } } } } }
      }`,
    ),
    example(
      'My cards',
      'My cards; there are three types.',
      `query MyCards { viewer { fullName cardAssignments { ${card} } } }`,
    ),
  ],
  basic: [example('What the schema offers', 'A token of scope basic authenticates, but reads no row.', fields)],
  none: [example('What the schema offers', 'Sign in to read data; this reads the schema.', fields)],
};
