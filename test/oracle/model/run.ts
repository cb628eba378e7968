import type { Pool } from 'pg';
import { decodeId } from '../ids.ts';
import { readRows } from '../rows.ts';
import { byObject, type Change, lostUpdates } from './changes.ts';
import { type CallerName, post, type Reply, signIn } from './client.ts';
import { type Operation, writeOperation } from './document.ts';
import { followTypes, followUntil, mark } from './feed.ts';
import { foretell, toComparable } from './foretell.ts';
import { followedTypes } from './ids.ts';
import { agree, DisagreementError } from './outcome.ts';
import { nodesOf, readingOf } from './reading.ts';
import { type Caller, keyOf, type State } from './state.ts';
import { resolveReferences, type Step } from './steps.ts';
import type { World } from './world.ts';

/** The services, one with and one without compilation, and the database below them. */
export type Surroundings = {
  readonly urls: readonly [string, string];
  readonly owner: Pool;
  /** What was met, such as `userCreate fails`. */
  readonly met?: Set<string>;
};

/** What was stored under an idempotency key. */
type Stored = { readonly body: string; readonly reply: Reply };

type Run = {
  readonly surroundings: Surroundings;
  readonly world: World;
  readonly tokens: readonly Readonly<Record<CallerName, string>>[];
  readonly callers: readonly Readonly<Record<CallerName, Caller>>[];
  readonly stored: Map<string, Stored>;
  readonly changes: Change[];
  state: State;
};

/** Sends a sequence of requests to a world and fails where the service and the model disagree. */
export async function runSequence(surroundings: Surroundings, world: World, steps: readonly Step[]): Promise<void> {
  const [url] = surroundings.urls;
  const run: Run = {
    surroundings,
    world,
    tokens: await signIn(url, world),
    callers: world.ids.map((organizationId) => callersOf(world.state, organizationId)),
    stored: new Map(),
    changes: [],
    state: world.state,
  };
  const cursors = await Promise.all(run.tokens.map(({ app }) => mark(url, app)));
  run.state = await withMarks(run);

  for (const [index, step] of steps.entries()) {
    try {
      await runStep(run, step);
      await compareRows(run);
    } catch (error) {
      throw error instanceof DisagreementError
        ? new DisagreementError(`step ${index}: ${error.message}`, error.expected, error.actual)
        : error;
    }
  }

  await compareGraph(run);
  await Promise.all(run.tokens.map(({ app }, index) => compareFeed(run, app, index, cursors[index] as string)));
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { organization, caller, service, key } = step;
  const fields = step.fields.map((field) => ({
    ...field,
    args: resolveReferences(field.args, run.state, run.world.ids, organization) as Record<string, unknown>,
  }));
  const operation = writeOperation(fields);
  const body = JSON.stringify(operation);
  const url = run.surroundings.urls[service] as string;
  const token = run.tokens[organization]?.[caller] as string;
  for (let times = step.isRepeated ? 2 : 1; times > 0; times -= 1) {
    const reply = await post(url, token, body, key);
    compareReply(run, step, operation, body, reply);
  }
}

function compareReply(run: Run, step: Step, operation: Operation, body: string, reply: Reply): void {
  const { organization, caller: callerName, key } = step;
  const caller = run.callers[organization]?.[callerName] as Caller;
  const internal = reply.body.errors?.find(({ extensions }) => extensions?.code === 'INTERNAL');
  if (internal) throw new DisagreementError('nothing is INTERNAL', 'no INTERNAL', reply.body);
  if (caller.scope === 'me' && !run.state.rows.users.some(({ id }) => id === caller.userId)) {
    agree('the token of a user who is gone', 401, reply.status);
    return;
  }
  const place = `${organization} ${callerName} ${key}`;
  const stored = key === undefined ? undefined : run.stored.get(place);
  if (stored?.body === body) {
    compareReplay(run, stored.reply, reply);
    return;
  }
  agree('an answer that is not replayed', false, reply.isReplayed);
  const code = reply.body.errors?.[0]?.extensions?.code;
  if (stored && code === 'IDEMPOTENCY_KEY_REUSED') {
    agree('the status of another request with the same key', 422, reply.status);
    return;
  }
  const foretold = foretell(run.state, caller, operation, reply.body);
  if (foretold.isRefused) {
    const isRefused = ['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED'].includes(code ?? '');
    agree(
      'a document that is refused before execution',
      { data: null, isRefused: true },
      { data: reply.body.data ?? null, isRefused },
    );
    return;
  }
  // Of a document that is refused anyway the contract does not say whether it or the key is checked first.
  if (stored) throw new DisagreementError('another request with the same key', 'IDEMPOTENCY_KEY_REUSED', reply.body);
  agree('the answer', foretold.answer, toComparable(reply.body));
  agree('the status', 200, reply.status);
  run.state = foretold.state;
  run.changes.push(...foretold.changes);
  for (const outcome of foretold.outcomes) run.surroundings.met?.add(outcome);
  if (key !== undefined) run.stored.set(place, { body, reply });
}

/** "The same key with the same body gives the same bytes (save a webhook's `secret`, section 9)". */
function compareReplay(run: Run, first: Reply, reply: Reply): void {
  agree('Idempotency-Replayed', true, reply.isReplayed);
  const isThere = (id: unknown) => run.state.webhooks.some((webhook) => webhook.id === decodeId(String(id))?.key);
  const expected = JSON.stringify(first.body, (_, value) => {
    const hasSecret = typeof value === 'object' && value !== null && 'secret' in value;
    return hasSecret && !isThere(value.webhook?.id) ? { ...value, secret: null } : value;
  });
  agree('the bytes of a replay', expected === JSON.stringify(first.body) ? first.text : expected, reply.text);
  agree('the status of a replay', first.status, reply.status);
}

/** The rows as the owner of the database reads them. */
async function compareRows({ surroundings, world, state }: Run): Promise<void> {
  const actual = await readRows(surroundings.owner, world.ids);
  const sorted = (rows: readonly Parameters<typeof keyOf>[0][]) =>
    [...rows].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (const list of ['users', 'units', 'cards', 'cardAssignments', 'accessGrants'] as const) {
    // Tokens are encrypted at rest.
    const expected = state.rows[list].map((row) =>
      'externalAuthenticationToken' in row ? { ...row, externalAuthenticationToken: null } : row,
    );
    agree(`the rows of ${list}`, sorted(expected), sorted(actual[list]));
  }
}

/** The whole graph, as each caller of both organizations reads it from both services. */
async function compareGraph(run: Run): Promise<void> {
  for (const [index, tokens] of run.tokens.entries())
    for (const name of ['app', 'person 0', 'person 1'] as const) {
      const caller = run.callers[index]?.[name] as Caller;
      const url = run.surroundings.urls[(index + name.length) % 2] as string;
      for (const operation of [readingOf(caller), nodesOf(run.state, run.changes.length + index)]) {
        const { body, status } = await post(url, tokens[name], JSON.stringify(operation));
        if (caller.scope === 'me' && !run.state.rows.users.some(({ id }) => id === caller.userId)) {
          agree('the token of a user who is gone', 401, status);
          continue;
        }
        const foretold = foretell(run.state, caller, operation, body);
        if (foretold.isRefused) throw new Error(`This is no query: ${operation.query}`);
        agree(`the graph as ${name} of ${index} reads it`, foretold.answer, toComparable(body));
      }
    }
}

/** What the feed tells from the position before the sequence. */
async function compareFeed(run: Run, token: string, index: number, after: string): Promise<void> {
  const url = run.surroundings.urls[index % 2] as string;
  const followed = await followUntil(url, token, after);
  const own = run.changes.filter(({ organizationId }) => organizationId === run.world.ids[index]);
  agree(`the changes of ${index}`, byObject(own), byObject(followed));
  agree(`the updates of ${index} that are not told`, [], lostUpdates(own, followed));
  // Which types, as the sequence happens to be.
  const typeNames = followedTypes.filter((_, nth) => nth === 0 || ((run.changes.length + index) >> nth) % 2 === 0);
  const wanted = followed.filter(({ typeName }) => typeNames.includes(typeName));
  agree(`the changes of ${typeNames}`, wanted, await followTypes(url, token, after, typeNames, followed));
  for (const { id, node } of followed) {
    const isThere = foretell(run.state, run.callers[index]?.app as Caller, nodeById(id), {});
    if (!isThere.isRefused) agree('the node of a change', (isThere.answer.data as { node: unknown }).node, node);
  }
}

const nodeById = (id: string): Operation => ({
  query: 'query ($id: ID!) { node(id: $id) { __typename id } }',
  variables: { id },
});

/** The users that mark the beginning in the feed. */
async function withMarks({ surroundings, world, state }: Run): Promise<State> {
  const rows = await readRows(surroundings.owner, world.ids);
  const known = new Map(state.rows.users.map((user) => [user.id, user]));
  return { ...state, rows: { ...state.rows, users: rows.users.map((user) => known.get(user.id) ?? user) } };
}

function callersOf({ rows }: State, organizationId: string): Record<CallerName, Caller> {
  const person = (externalIdentifier: string): Caller => {
    const user = rows.users.find(
      (row) => row.organizationId === organizationId && row.externalIdentifier === externalIdentifier,
    );
    return { organizationId, scope: 'me', userId: user?.id ?? '' };
  };
  return {
    app: { organizationId, scope: 'app' },
    basic: { organizationId, scope: 'basic' },
    'person 0': person('u-0'),
    'person 1': person('u-1'),
  };
}
