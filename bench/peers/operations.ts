import type { Tokens } from './data/issueTokens.ts';
import { keyOf } from './data/keys.ts';
import { organizations, type Size } from './data/sizes.ts';
import { encodeNodeId } from './nodeIds.ts';

export type OperationName = keyof typeof operations;

export type Request = { readonly token: string; readonly body: string };

type Operation = {
  readonly title: string;
  readonly document: string;
  /** The n-th request of it; others have other tokens and variables. */
  variables(n: number, size: Size): Record<string, unknown>;
  token(n: number, tokens: Tokens): string;
};

/** The measured operations. Documents stay the same and values come as variables, as clients do it. */
export const operations = {
  Q1: {
    title: 'viewer and 20 accessible units',
    document: `query Q1($first: Int!) {
  viewer { id fullName email accessibleUnits(first: $first) { nodes { id name } } }
}`,
    variables: () => ({ first: 20 }),
    token: ofUser,
  },
  Q2: {
    title: '50 users and their cards',
    document: `query Q2($ids: [ID!]!) {
  app {
    users(ids: $ids) {
      nodes { id fullName email cardAssignments { id card { __typename id name ... on NfcCard { nfcIdentifier } } } }
    }
  }
}`,
    variables: (n, { users }) => ({
      ids: Array.from({ length: 50 }, (_, index) =>
        encodeNodeId('User', keyOf('user', (n % organizations) * users + ((n * 7919 + index * 197) % users))),
      ),
    }),
    token: ofApplication,
  },
  Q3: {
    title: 'units 10 × 10 × 10',
    document: `query Q3($first: Int!) {
  app {
    rootUnits(first: $first) {
      nodes { id name children(first: $first) { nodes { id name children(first: $first) { nodes { id name } } } } }
    }
  }
}`,
    variables: () => ({ first: 10 }),
    token: ofApplication,
  },
  M1: {
    title: 'userCreate',
    document: `mutation M1($fullName: String!, $email: String!, $locale: String, $timeZone: String, $externalIdentifier: String) {
  userCreate(fullName: $fullName, email: $email, locale: $locale, timeZone: $timeZone, externalIdentifier: $externalIdentifier) {
    user { id fullName email locale timeZone externalIdentifier }
  }
}`,
    variables: (n) => ({
      fullName: `New Person ${n}`,
      email: `new-person-${n}@bench.test`,
      locale: 'de',
      timeZone: 'Berlin',
      externalIdentifier: `new-user-${n}`,
    }),
    token: ofApplication,
  },
} as const satisfies Record<string, Operation>;

export const operationNames = Object.keys(operations) as OperationName[];

/** The n-th request; the n-th of a change must be sent once only. */
export function requestOf(name: OperationName, n: number, tokens: Tokens, size: Size): Request {
  const { document, variables, token }: Operation = operations[name];
  return { token: token(n, tokens), body: JSON.stringify({ query: document, variables: variables(n, size) }) };
}

function ofUser(n: number, { users }: Tokens): string {
  return users[n % users.length] ?? '';
}

function ofApplication(n: number, { applications }: Tokens): string {
  return applications[n % applications.length] ?? '';
}
