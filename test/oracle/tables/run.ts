import { buildSchema, type GraphQLSchema } from 'graphql';
import type { Pool } from 'pg';
import { answerOf, anyBoolean, anyCursor, holderOf, markFor, rowsOf, select } from './answer.ts';
import { ask, dataOf, type Failure } from './ask.ts';
import type { Check, DocumentCheck, WalkCheck } from './checks.ts';
import { withFaults } from './draw.ts';
import { Drawer } from './drawChecks.ts';
import { type Arguments, drawArguments, learnOrders, readMatches } from './learn.ts';
import { differenceOf } from './match.ts';
import type { Case } from './model.ts';
import { createRandom, type Random } from './random.ts';
import { type Operation, Renderer } from './render.ts';
import { smallerChecks } from './shrink.ts';
import { createsOf, dropsOf, insertOf } from './sql.ts';
import { keyOfKnown, readState, type State } from './state.ts';
import { readSdl, type Service, type World } from './world.ts';

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
  const logged = world.services.map(({ process: served }) => served.output.stderr.length);
  const { maxFailures = 1, isShrinking = false } = options;
  const run: Run = { random: createRandom(seed), queries: 0, failures: [], maxFailures, isShrinking };
  await owner.query(createsOf(drawn));
  try {
    for (const table of drawn.tables) {
      for (const row of table.rows) await insert(owner, insertOf(table, row, drawn, world));
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

type Run = {
  readonly random: Random;
  queries: number;
  readonly failures: Failure[];
  readonly maxFailures: number;
  readonly isShrinking: boolean;
};

/** A row whose reference has been left out is left out, too. */
async function insert(owner: Pool, statement: string): Promise<void> {
  await owner.query(statement).catch((error: { code?: string }) => {
    if (error.code !== '23502') throw new Error(`${statement}: ${error}`, { cause: error });
  });
}

function errorsOf({ services }: World, from: readonly number[]): Failure | null {
  const lines = services.flatMap(({ process: served }, index) => served.output.stderr.slice(from[index]).split('\n'));
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
    if (isOver(await learnOrders(state, schema, source, drawnArguments.orders))) return;
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
  return check.kind === 'document' ? runDocument(check, state, schema, run) : runWalk(check, state, schema, run);
}

async function runDocument(
  drawnCheck: DocumentCheck,
  state: State,
  schema: GraphQLSchema,
  run: Run,
): Promise<Failure | null> {
  const ways = run.isShrinking ? [false, true] : [run.random.chance(0.3)];
  for (const isInline of ways) {
    const render = (roots: DocumentCheck['roots']) => new Renderer(state, schema, isInline).document(roots);
    const totals = render(drawnCheck.roots).query.match(/totalCount/g)?.length ?? 0;
    const check =
      totals > maxTotals && !withFaults ? { ...drawnCheck, roots: withoutTotals(drawnCheck.roots) } : drawnCheck;
    const failure = await runOperation(check, render(check.roots), state, run);
    if (failure) return failure;
  }
  return null;
}

/** A fourth `totalCount` of one connection with `orderBy` is known to fail. */
const maxTotals = 3;

const withoutTotals = (roots: DocumentCheck['roots']): DocumentCheck['roots'] =>
  JSON.parse(JSON.stringify(roots), (name, value) =>
    name === 'wants' ? value.filter((want: string) => want !== 'totalCount') : value,
  );

async function runOperation(
  check: DocumentCheck,
  operation: Operation,
  state: State,
  run: Run,
): Promise<Failure | null> {
  if ((operation.query.match(/\b[fr]\d+: /g)?.length ?? 0) > 45) return null;
  const expected = answerOf(check.roots, check.who, state);
  for (const service of servicesFor(state.world, run)) {
    // The second time it is compiled.
    for (const time of service.isCompiling ? ['first', 'second'] : ['only']) {
      run.queries++;
      const told = dataOf(await ask(service, state.world, check.who, operation));
      const difference = 'refused' in told ? told.refused : differenceOf(expected, told.data);
      if (difference)
        return {
          check,
          operation,
          message: `The ${time} answer${service.isCompiling ? '' : ' without compilation'} is wrong ${difference}`,
        };
    }
  }
  return null;
}

/** Every compiling service, and the other one for a fifth. */
const servicesFor = ({ services }: World, run: Run): Service[] =>
  services.filter(
    ({ isCompiling }) => isCompiling || services.length === 1 || run.isShrinking || run.random.chance(0.2),
  );

type Page = {
  readonly totalCount: number;
  readonly edges: readonly { readonly cursor: string; readonly node: unknown }[];
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
};

async function runWalk(check: WalkCheck, state: State, schema: GraphQLSchema, run: Run): Promise<Failure | null> {
  const { root, who, size, isBackwards } = check;
  const [field] = root.selection;
  if (field?.kind !== 'connection') return null;
  const renderer = new Renderer(state, schema, run.random.chance(0.3));
  renderer.define('n', 'Int');
  renderer.define('at', 'Cursor');
  renderer.walked = { field, more: isBackwards ? ['last: $n', 'before: $at'] : ['first: $n', 'after: $at'] };
  const { query, variables } = renderer.document([root]);
  const holder = root.kind === 'node' ? holderOf(root.of.source, markFor(root.of, who, state), who, state) : null;
  const isHidden = root.kind === 'node' && !holder;
  const all = isHidden ? [] : rowsOf(field, holder, who, state);
  const rows = isBackwards ? all.toReversed() : all;
  const [service] = servicesFor(state.world, run).toReversed();
  if (!service) return null;

  let at: string | null = null;
  for (let start = 0; ; ) {
    run.queries++;
    const operation: Operation = { query, variables: { ...variables, n: size, at } };
    const told = dataOf(await ask(service, state.world, who, operation));
    const fail = (difference: string): Failure => ({
      check,
      operation,
      message: `Page from ${start}${service.isCompiling ? '' : ' without compilation'} is wrong ${difference}`,
    });
    if ('refused' in told) return fail(told.refused);
    if (isHidden) {
      const difference = differenceOf({ r0: null }, told.data);
      return difference ? fail(difference) : null;
    }
    const page = rows.slice(start, start + size);
    const end = page.length > 0 ? anyCursor : null;
    const hasMore = start + size < rows.length;
    const before = at === null ? false : anyBoolean;
    const shown = isBackwards ? page.toReversed() : page;
    const connection = {
      totalCount: all.length,
      edges: shown.map((item) => ({
        cursor: anyCursor,
        node: select(field.selection, { source: field.source, item, place: item.mark }, who, state),
      })),
      pageInfo: {
        hasNextPage: isBackwards ? before : hasMore,
        hasPreviousPage: isBackwards ? hasMore : before,
        startCursor: end,
        endCursor: end,
      },
    };
    const got = Object.values(told.data.r0 as object).find(
      (value) => typeof value === 'object' && value !== null && 'edges' in value,
    ) as Page;
    const difference = differenceOf(connection, got);
    if (difference) return fail(difference);
    const { edges, pageInfo } = got;
    if (pageInfo.startCursor !== (edges[0]?.cursor ?? null) || pageInfo.endCursor !== (edges.at(-1)?.cursor ?? null))
      return fail('of its cursors');
    if (!hasMore) return null;
    // Mostly from the end of the page, at times from within it.
    const taken = run.random.chance(0.8) ? page.length : 1 + run.random.below(page.length);
    at = edges[isBackwards ? edges.length - taken : taken - 1]?.cursor ?? null;
    start += taken;
  }
}
