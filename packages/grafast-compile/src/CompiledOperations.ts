import { channel } from 'node:diagnostics_channel';
import { LRUCache } from 'lru-cache';
import type { OperationPlan } from 'postgraphile/grafast';
import type { OperationDefinitionNode } from 'postgraphile/graphql';
import { compileOperation, type RunOperation } from './compileOperation.ts';
import type { StatementTexts } from './compileStatement.ts';
import {
  internalsOf,
  type LambdaStep,
  LambdaStepClass,
  matchesConstraints,
  rowParserNames,
  stepsOf,
} from './internals.ts';
import { joinedRow } from './joinedRow.ts';
import { subqueryRows } from './subqueryRows.ts';

export type CompiledOperation = { readonly plan: OperationPlan; readonly run: RunOperation };

/** The compiled operations of a schema. */
export class CompiledOperations {
  readonly #maxBytes: number;
  /** As long as its document is cached; several plans if variables decide what is selected. */
  readonly #known = new WeakMap<OperationDefinitionNode, readonly CompiledOperation[]>();
  readonly #tried = new WeakMap<OperationPlan, CompiledOperation | null>();
  readonly #texts: StatementTexts = new LRUCache({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }, key) => (text?.length ?? 0) + key.length + charactersOfEntry,
  });
  #count = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(operation: OperationDefinitionNode, variables: unknown, context: unknown): CompiledOperation | null {
    const found = this.#known.get(operation)?.find(({ plan }) => {
      const { variableValuesConstraints, contextConstraints } = internalsOf(plan);
      return (
        matchesConstraints(variableValuesConstraints, variables) && matchesConstraints(contextConstraints, context)
      );
    });
    return found ?? null;
  }

  /** Null when a part of it is left to Grafast. */
  compile(operation: OperationDefinitionNode, plan: OperationPlan): CompiledOperation | null {
    const tried = this.#tried.get(plan);
    const compiled = tried === undefined ? this.#compile(plan) : tried;
    if (tried === undefined) this.#tried.set(plan, compiled);
    const known = this.#known.get(operation) ?? [];
    if (compiled && !known.includes(compiled))
      this.#known.set(operation, [compiled, ...known].slice(0, maxPlansOf(plan)));
    return compiled;
  }

  #compile(plan: OperationPlan): CompiledOperation | null {
    replaceParsers(plan);
    try {
      const run = compileOperation(internalsOf(plan), String(this.#count++), this.#texts, this.#maxBytes);
      compiledChannel.publish({});
      return { plan, run };
    } catch (error) {
      notCompiledChannel.publish({ error });
      return null;
    }
  }
}

/** Diagnostics channels for the outcome of each plan: a test counts them. */
const compiledChannel = channel('grafast-compile:compiled');
const notCompiledChannel = channel('grafast-compile:not compiled');

/** As many plans of an operation as Grafast keeps, since each takes megabytes if the operation is large. */
const maxPlansOf = ({ schema: { extensions } }: OperationPlan): number =>
  extensions.grafast?.operationOperationPlansCacheMaxLength ?? 50;

/** The memory limit of the statements' texts. */
const maxCharacters = 8_000_000;
/** The memory of an entry beside its texts. */
const charactersOfEntry = 2000;

/**
 * Replaces @dataplan/pg's parsers of rows within rows by one-pass ones, for Grafast too.
 * Its own take twice as long for each level of lists within lists.
 */
function replaceParsers(plan: OperationPlan): void {
  for (const step of stepsOf(plan)) {
    if (!(step instanceof LambdaStepClass)) continue;
    const lambda = step as unknown as { fn: LambdaStep['fn'] };
    lambda.fn = parsers.get(lambda.fn.name) ?? lambda.fn;
  }
}

const [ofSubquery, ofJoin] = rowParserNames;
const parsers: ReadonlyMap<string, LambdaStep['fn']> = new Map([
  [ofSubquery, subqueryRows as LambdaStep['fn']],
  [ofJoin, joinedRow as LambdaStep['fn']],
]);
