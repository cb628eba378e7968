import type { OperationPlan } from 'postgraphile/grafast';
import { createPlanPlugin } from './createPlanPlugin.ts';
import { type InlineStep, type SelectStep, stepsOf } from './internals.ts';

/**
 * Repair of plans with equal selections: an alias in SQL stands for that of any equal selection.
 *
 * When two selections become one, @dataplan/pg notes that the alias of the second is that of the first. If a selection that has replaced
 * another is replaced later, the notes are a chain: c is b, b is a. Read in the wrong order, c and b already have a name when b gets that of
 * a. This fails: "sql.symbolAlias was used after the symbols were used". Four counts of a connection in two orders were such a document.
 * Here each note leads to the end of its chain.
 *
 * Seen in @dataplan/pg 1.1.2; `test/graphql/symbolAliases.test.ts` has the reproduction, and fails when a release mends it.
 */
export const SymbolAliasesPlugin = createPlanPlugin('SymbolAliasesPlugin', shortenChains);

function shortenChains(plan: OperationPlan): void {
  for (const step of stepsOf(plan) as readonly Partial<SelectStep & InlineStep>[]) {
    const aliases = step._symbolSubstitutes ?? step.staticInfo?._symbolSubstitutes;
    for (const [from, to] of aliases ?? []) aliases?.set(from, endOf(aliases, to));
  }
}

function endOf(aliases: ReadonlyMap<symbol, symbol>, start: symbol): symbol {
  let end = start;
  // Were there a circle, it would have no end.
  for (let steps = 0; steps < aliases.size; steps++) end = aliases.get(end) ?? end;
  return end;
}
