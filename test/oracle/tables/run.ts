import { buildSchema, type GraphQLSchema } from 'graphql';
import type { Pool } from 'pg';
import { randomOf } from '../random.ts';
import { ask, dataOf, type Failure, type Run } from './ask.ts';
import type { Check } from './checks.ts';
import { runDocument, runMutation } from './documents.ts';
import { Drawer } from './drawChecks.ts';
import { type Arguments, drawArguments, learnOrders, missingOrders, readMatches } from './learn.ts';
import type { Case } from './model.ts';
import { smallerChecks } from './shrink.ts';
import { createsOf, dropsOf, insertOf, unrecordedSql } from './sql.ts';
import { keyOfKnown, readState, type State } from './state.ts';
import { runWalk } from './walk.ts';
import { readSdl, type World } from './world.ts';

export type Found = { readonly failures: readonly Failure[]; readonly queries: number };

export type Options = {
  /** The only check that is asked. */
  readonly check?: Check | undefined;
  /** Ends with the first failure unless it is greater. */
  readonly maxFailures?: number;
  /** Whether the first check that fails is made smaller, and each is asked in every way. */
  readonly isShrinking?: boolean;
};

/** Makes the tables and their rows, has the schema built, and asks. */
export async function runCase(
  owner: Pool,
  world: World,
  drawn: Case,
  seed: number,
  options: Options = {},
): Promise<Found> {
  const logged = world.services.map(({ log }) => log().length);
  const { maxFailures = 1, isShrinking = false } = options;
  const run: Run = { random: randomOf(seed), queries: 0, failures: [], maxFailures, isShrinking };
  const { rows } = await owner.query<{ history: string; feed: string }>(
    `select (select coalesce(max(id), 0) from audit.changes) as history, (select coalesce(max(id), 0) from feed.changes) as feed`,
  );
  await owner.query(createsOf(drawn));
  try {
    for (const table of drawn.tables) {
      for (const row of table.rows) await insert(owner, insertOf(table, row, drawn, world));
      const unrecorded = await owner.query(unrecordedSql(table, drawn), [rows[0]?.history, rows[0]?.feed]);
      if (unrecorded.rows.length > 0)
        run.failures.push({
          message: `History or feed of ${table.name} lack the rows ${unrecorded.rows.map(({ mark }) => mark)}.`,
        });
    }
    await judge(owner, world, drawn, run, options.check);
    const errors = errorsOf(world, logged);
    const [first, ...others] = run.failures;
    const failures =
      first && errors ? [{ ...first, message: `${first.message}\n${errors.message}` }, ...others] : run.failures;
    return { failures: failures.length === 0 && errors ? [errors] : failures, queries: run.queries };
  } finally {
    await owner.query(dropsOf(drawn));
  }
}

/** A row whose reference has been left out is left out, too. */
async function insert(owner: Pool, statement: string): Promise<void> {
  await owner.query(statement).catch((error: { code?: string }) => {
    if (error.code !== '23502') throw new Error(`${statement}: ${error}`, { cause: error });
  });
}

function errorsOf({ services }: World, from: readonly number[]): Failure | null {
  const lines = services.flatMap(({ log }, index) => log().slice(from[index]).split('\n'));
  const errors = lines.filter((line) => /"level":[56]0/.test(line));
  return errors[0] ? { message: `The log has an error: ${errors[0].slice(0, 2000)}` } : null;
}

async function judge(owner: Pool, world: World, drawn: Case, run: Run, only?: Check): Promise<void> {
  const isOver = (failure: Failure | null) => {
    if (failure) run.failures.push(failure);
    return run.failures.length >= run.maxFailures;
  };
  try {
    await world.rebuild();
  } catch (error) {
    run.failures.push({ message: String(error) });
    return;
  }
  const schema = buildSchema(await readSdl(world.services[0]?.url ?? ''));
  const state = await readState(owner, world, drawn);
  await learnKnown(state);
  const known = new Map<string, Arguments>();
  for (const source of state.sources.values()) {
    const drawnArguments = only ? argumentsOf(only, source.name) : drawArguments(run.random, schema, source);
    known.set(source.name, drawnArguments);
    const missing = missingOrders(schema, source);
    if (missing.length > 0 && isOver({ message: `${source.type}OrderBy lacks ${missing}` })) return;
    for (const failure of await learnOrders(state, schema, source, drawnArguments.orders)) if (isOver(failure)) return;
    await readMatches(owner, state, source, drawnArguments.filters);
  }
  for (const check of only ? [only] : new Drawer(run.random, state, known).checks()) {
    try {
      const failure = await runCheck(check, state, schema, run);
      if (isOver(failure && run.isShrinking ? await shrinkCheck(failure, state, schema, run) : failure)) return;
    } catch (error) {
      if (isOver({ check, message: String(error) })) return;
    }
  }
}

/** The smallest check that fails in the same way, on the same tables. */
async function shrinkCheck(failure: Failure, state: State, schema: GraphQLSchema, run: Run): Promise<Failure> {
  for (const smaller of failure.check ? smallerChecks(failure.check) : []) {
    const found = await runCheck(smaller, state, schema, run).catch(() => null);
    if (found && kindOf(found) === kindOf(failure)) return shrinkCheck(found, state, schema, run);
  }
  return failure;
}

/** Of errors the code; all answers that are merely wrong are of one kind. */
export const kindOf = ({ message }: Failure): string =>
  /"code":"(\w+)"/.exec(message)?.[1] ?? /^Error|the log/i.exec(message)?.[0] ?? 'wrong';

/** The orders and filters of one check. */
function argumentsOf(check: Check, source: string): Arguments {
  const orders = new Map<string, readonly string[]>([['[]', []]]);
  const filters: Arguments['filters'][number][] = [];
  JSON.stringify(check, (_, value) => {
    if (value?.kind === 'connection' && value.source === source) {
      orders.set(JSON.stringify(value.orderBy), value.orderBy);
      filters.push(...value.filters);
    }
    return value;
  });
  return { orders: [...orders.values()], filters };
}

/** The ids of units and users. */
async function learnKnown(state: State): Promise<void> {
  const query = '{ app { units { nodes { id externalIdentifier } } users { nodes { id externalIdentifier } } } }';
  for (const organization of [0, 1] as const) {
    const [service] = state.world.services;
    if (!service) return;
    const told = dataOf(await ask(service, state.world, { organization, scope: 'app' }, { query, variables: {} }));
    if ('refused' in told) throw new Error(told.refused);
    const app = told.data.app as Record<string, { nodes: { id: string; externalIdentifier: string }[] }>;
    for (const source of ['units', 'users']) {
      for (const { id, externalIdentifier } of app[source]?.nodes ?? []) {
        state.ids.set(keyOfKnown({ source, organization, mark: Number(externalIdentifier.slice(1)) }), id);
      }
    }
  }
}

function runCheck(check: Check, state: State, schema: GraphQLSchema, run: Run): Promise<Failure | null> {
  if (check.kind === 'document') return runDocument(check, state, schema, run);
  return check.kind === 'walk' ? runWalk(check, state, schema, run) : runMutation(check, state, schema, run);
}
