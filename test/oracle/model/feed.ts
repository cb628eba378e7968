import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from './changes.ts';
import { post } from './client.ts';

/** A change as the feed tells it. */
export type FollowedChange = Omit<Change, 'organizationId'> & { cursor: string; node: unknown };

/**
 * Creates a user and returns the position of that change.
 * The present alone would not do: the feed ends at the oldest open transaction, which may be somebody else's.
 */
export async function mark(url: string, token: string): Promise<string> {
  const changes = await follow(url, token, null, await createMark(url, token));
  return changes.at(-1)?.cursor ?? '';
}

/** The changes after a position, up to a user that is created for that and is not among them. */
export async function followUntil(url: string, token: string, after: string): Promise<FollowedChange[]> {
  return (await follow(url, token, after, await createMark(url, token))).slice(0, -1);
}

async function createMark(url: string, token: string): Promise<string> {
  const query = 'mutation ($email: String!) { userCreate(fullName: "Mark", email: $email) { user { id } } }';
  const { body } = await post(url, token, JSON.stringify({ query, variables: { email: `${randomUUID()}@mark.test` } }));
  const payload = body.data?.userCreate as { user: { id: string } } | null;
  if (!payload) throw new Error(`There is no mark: ${JSON.stringify(body)}`);
  return payload.user.id;
}

/** The same changes, of these types alone, up to the last of those that are given. */
export async function followTypes(
  url: string,
  token: string,
  after: string,
  typeNames: readonly string[],
  among: readonly FollowedChange[],
): Promise<FollowedChange[]> {
  const changes: FollowedChange[] = [];
  for (let position = after, hasNext = true; hasNext; ) {
    const app = await readPage(url, token, { after: position, typeNames });
    changes.push(...app.changes.nodes);
    ({ endCursor: position, hasNextPage: hasNext } = app.changes.pageInfo);
  }
  const cursors = new Set(among.map(({ cursor }) => cursor));
  return changes.filter(({ cursor, typeName }) => cursors.has(cursor) || !typeNames.includes(typeName));
}

const page = `query ($after: Cursor, $typeNames: [FollowedType!]) { app { changes(first: 1000, after: $after, typeNames: $typeNames) {
  nodes { cursor operation typeName id fields relatedIds node { __typename id } } pageInfo { endCursor hasNextPage } } } }`;

async function readPage(url: string, token: string, variables: object) {
  const { body } = await post(url, token, JSON.stringify({ query: page, variables }));
  const app = body.data?.app as {
    changes: { nodes: FollowedChange[]; pageInfo: { endCursor: string; hasNextPage: boolean } };
  } | null;
  if (!app) throw new Error(`The feed does not answer: ${JSON.stringify(body)}`);
  return app;
}

/** Reads until the change of an object comes, for at most a minute. */
async function follow(url: string, token: string, after: string | null, lastId: string): Promise<FollowedChange[]> {
  const changes: FollowedChange[] = [];
  const deadline = Date.now() + 60_000;
  for (let position = after; Date.now() < deadline; await delay(10)) {
    const app = await readPage(url, token, { after: position });
    changes.push(...app.changes.nodes);
    position = app.changes.pageInfo.endCursor ?? position;
    const end = changes.findIndex(({ id }) => id === lastId);
    if (end !== -1) return changes.slice(0, end + 1);
  }
  throw new Error('The feed has not come to its end within a minute');
}
