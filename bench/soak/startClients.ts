import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Tree } from '../data/startTree.ts';

export type Clients = {
  /** How often each kind of work was done. */
  readonly done: ReadonlyMap<string, number>;
  /** The wrong answers. */
  readonly failures: readonly string[];
  /** Resolves when no request is under way any more. */
  stop(): Promise<void>;
};

/** A client for each kind of work that a service has, good and bad; each begins its next piece shortly after the last. */
export function startClients(tree: Tree, pauseMs: number): Clients {
  const done = new Map<string, number>();
  const failures: string[] = [];
  let stopping = false;
  const client = async ([kind, work]: [string, Work]) => {
    for (let number = 1; !stopping; number++) {
      try {
        await work(tree, number);
        done.set(kind, (done.get(kind) ?? 0) + 1);
      } catch (error) {
        failures.push(`${kind}: ${error}`);
      }
      await delay(pauseMs);
    }
  };
  const all = Promise.all(Object.entries(kinds).map(client));
  return {
    done,
    failures,
    async stop() {
      stopping = true;
      await all;
    },
  };
}

/** @throws when an answer is another than it should be */
type Work = (tree: Tree, number: number) => Promise<void>;

const kinds: Readonly<Record<string, Work>> = {
  'a page of users': (tree, number) => expectData(tree, users, { first: 1 + (number % 50) }),
  'units below units': (tree) => expectData(tree, units),
  'a document of its own': (tree, number) => expectData(tree, `query N${number} { app { a${number}: name } }`),
  'work for the offload thread': (tree) => expectData(tree, many),
  'a user, created and deleted': async (tree) => {
    const externalIdentifier = randomUUID();
    await expectData(tree, create, { externalIdentifier, email: `${externalIdentifier}@soak.test` });
    await expectData(tree, remove, { externalIdentifier });
  },
  'a token, granted, used and revoked': async (tree) => {
    const token = await tree.grantToken();
    await expectStatus(200, ask(tree, '{ app { name } }', token));
    const headers = { Authorization: `Bearer ${token}` };
    await expectStatus(200, fetch(`${tree.url}/oauth/token`, { method: 'DELETE', headers }));
    await expectStatus(401, ask(tree, '{ app { name } }', token));
  },
  'an unknown token': (tree, number) =>
    expectStatus(401, ask(tree, '{ app { name } }', `${tree.token.slice(0, -6)}${100_000 + (number % 900_000)}`)),
  'no GraphQL': (tree, number) => expectStatus(400, ask(tree, `{ a${number}`)),
  'too many fields': (tree) => expectStatus(400, ask(tree, `{ ${'app { name } '.repeat(600)} }`)),
};

const users = `query Users($first: Int!) {
  app { users(first: $first) { totalCount nodes { id fullName email cardAssignments { card { name } } } } }
}`;
const units = '{ app { rootUnits { nodes { id name children(first: 5) { nodes { id name } } } } } }';
const many = `{ app { ${'abcde'.replaceAll(/./g, '$&: users(first: 1000) { nodes { id fullName } } ')} } }`;
const create = `mutation Create($externalIdentifier: String!, $email: String!) {
  userCreate(fullName: "Soak", externalIdentifier: $externalIdentifier, email: $email) { user { id } }
}`;
const remove = `mutation Delete($externalIdentifier: String!) {
  userDelete(externalIdentifier: $externalIdentifier) { user { id } }
}`;

async function expectData(tree: Tree, query: string, variables?: Record<string, unknown>): Promise<void> {
  const { status, text } = await tree.send(query, variables);
  if (status !== 200 || text.includes('"errors"')) throw new Error(`${status} ${text.slice(0, 200)}`);
}

async function expectStatus(status: number, response: Promise<Response>): Promise<void> {
  const answer = await response;
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${answer.status}, not ${status}: ${text.slice(0, 200)}`);
}

function ask(tree: Tree, query: string, token = tree.token): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/graphql-response+json',
  };
  return fetch(`${tree.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
}
