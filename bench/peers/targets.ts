import type { OperationName } from './operations.ts';
import type { Comparison } from './report/compare.ts';

/** The targets of the service, by operation: its requests per second are at least so many times those of another, and its p99 at most. */
export const targets = {
  againstSql: { Q1: 0.9, Q2: 1.1, Q3: 1.3, M1: 0.9 },
  againstApolloOrMercurius: { Q1: 1.3, Q2: 2, Q3: 2, M1: 1 },
  againstStock: { Q1: 1.7, Q2: 2.3, Q3: 3, M1: 1.6 },
  maxP99AgainstSql: { Q1: 2, Q2: 2, Q3: 2, M1: 2 },
} as const satisfies Record<string, Record<OperationName, number>>;

/** The bound on the memory of the service's process after the run. */
export const maxMegabytes = 250;

/** Beyond it the process that sends would measure itself. */
const maxLoadUtilization = 0.8;

/** A sentence for each target that was missed, of those that this run could tell. */
export function missedTargets(comparisons: readonly Comparison[], megabytes: number | undefined): string[] {
  const misses: string[] = [];
  const atLeast = (what: string, value: number | undefined, bound: number) => {
    if (value !== undefined && value < bound) misses.push(`${what} is ${value.toFixed(2)}, not ${bound} or more`);
  };
  const atMost = (what: string, value: number | undefined, bound: number) => {
    if (value !== undefined && value > bound) misses.push(`${what} is ${value.toFixed(2)}, not ${bound} or less`);
  };
  for (const { name, operation, loadUtilization, ratios } of comparisons) {
    atMost(`${operation}: the part of the time that sending to ${name} took`, loadUtilization, maxLoadUtilization);
    if (name !== 'ours') continue;
    atLeast(`${operation}: req/s against hand-written SQL`, ratios.sql, targets.againstSql[operation]);
    atLeast(
      `${operation}: req/s against the better of Apollo and Mercurius`,
      ratios.apolloOrMercurius,
      targets.againstApolloOrMercurius[operation],
    );
    atLeast(`${operation}: req/s against stock PostGraphile`, ratios.stock, targets.againstStock[operation]);
    atMost(`${operation}: p99 against hand-written SQL`, ratios.sqlP99, targets.maxP99AgainstSql[operation]);
  }
  atMost('Memory after the run, in MB,', megabytes, maxMegabytes);
  return misses;
}
