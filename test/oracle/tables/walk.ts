import type { GraphQLSchema } from 'graphql';
import { anyBoolean, anyCursor, holderOf, markFor, rowsOf, select } from './answer.ts';
import { ask, dataOf, type Failure, isWithinLimits, type Run, servicesFor } from './ask.ts';
import type { WalkCheck } from './checks.ts';
import { differenceOf } from './match.ts';
import { type Operation, Renderer } from './render.ts';
import type { State } from './state.ts';

type Page = {
  readonly totalCount: number;
  readonly edges: readonly { readonly cursor: string; readonly node: unknown }[];
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
};

/** Follows the cursors of a connection: every page must have the next rows, and tell whether there are more. */
export async function runWalk(
  check: WalkCheck,
  state: State,
  schema: GraphQLSchema,
  run: Run,
): Promise<Failure | null> {
  const { root, who, size, isBackwards } = check;
  const [field] = root.selection;
  if (field?.kind !== 'connection') return null;
  const renderer = new Renderer(state, schema, run.random.chance(0.3));
  renderer.define('n', 'Int');
  renderer.define('at', 'Cursor');
  renderer.walked = { field, more: isBackwards ? ['last: $n', 'before: $at'] : ['first: $n', 'after: $at'] };
  const { query, variables } = renderer.document([root]);
  if (!isWithinLimits({ query, variables })) return null;
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
