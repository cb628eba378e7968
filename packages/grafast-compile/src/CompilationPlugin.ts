import { channel } from 'node:diagnostics_channel';
import { LRUCache } from 'lru-cache';
import { type OperationPlan as GrafastOperationPlan, LambdaStep } from 'postgraphile/grafast';
import type { OperationDefinitionNode } from 'postgraphile/graphql';
import { compileOperation, type RunOperation } from './compileOperation.ts';
import type { StatementTexts } from './compileStatement.ts';
import { findOtherVersion, matchesConstraints, type OperationPlan } from './internals.ts';
import { joinedRow } from './joinedRow.ts';
import { subqueryRows } from './subqueryRows.ts';

declare global {
  namespace Grafast {
    interface Context {
      /** Whether an operation that can be compiled is not executed, but fails with {@link CompiledInstead}. */
      compilesOnly?: boolean;
    }
  }
}

/** Compilation of operations: from the second time on, Grafast is not needed; see README.md. */
export const createCompilationPlugin = (
  maxBytes: number,
  onUnknown: ((reason: string) => void) | undefined,
): GraphileConfig.Plugin => ({
  name: 'CompilationPlugin',

  schema: {
    hooks: {
      GraphQLSchema(schema) {
        const unknown = findOtherVersion();
        if (unknown !== null) {
          onUnknown?.(unknown);
          return schema;
        }
        return {
          ...schema,
          extensions: { ...schema.extensions, compiledOperations: new CompiledOperations(maxBytes) },
        };
      },
    },
  },

  grafast: {
    middleware: {
      establishOperationPlan(next, { schema, operation, context }) {
        const plan = next();
        const operations = schema.extensions.compiledOperations as CompiledOperations | undefined;
        const compiled = operations?.compile(operation, plan);
        if (compiled && context.compilesOnly) throw new CompiledInstead(compiled);
        return plan;
      },
    },
  },
});

export type CompiledOperation = { readonly plan: GrafastOperationPlan; readonly run: RunOperation };

/** What an operation was compiled to, as an error of its execution. */
export class CompiledInstead extends Error {
  override name = 'CompiledInstead';
  readonly compiled: CompiledOperation;

  constructor(compiled: CompiledOperation) {
    super('The operation was compiled');
    this.compiled = compiled;
  }
}

/** The compiled operations of a schema. */
export class CompiledOperations {
  readonly #maxBytes: number;
  /** As long as its document is cached; several plans if variables decide what is selected. */
  readonly #known = new WeakMap<OperationDefinitionNode, readonly CompiledOperation[]>();
  readonly #tried = new WeakMap<GrafastOperationPlan, CompiledOperation | null>();
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
      const { variableValuesConstraints, contextConstraints } = plan as unknown as OperationPlan;
      return (
        matchesConstraints(variableValuesConstraints, variables) && matchesConstraints(contextConstraints, context)
      );
    });
    return found ?? null;
  }

  /** Null when a part of it is left to Grafast. */
  compile(operation: OperationDefinitionNode, plan: GrafastOperationPlan): CompiledOperation | null {
    const tried = this.#tried.get(plan);
    const compiled = tried === undefined ? this.#compile(plan) : tried;
    if (tried === undefined) this.#tried.set(plan, compiled);
    const known = this.#known.get(operation) ?? [];
    if (compiled && !known.includes(compiled)) this.#known.set(operation, [compiled, ...known].slice(0, maxPlans));
    return compiled;
  }

  #compile(plan: GrafastOperationPlan): CompiledOperation | null {
    const internals = plan as unknown as OperationPlan;
    replaceParsers(internals);
    try {
      const run = compileOperation(internals, String(this.#count++), this.#texts, this.#maxBytes);
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

/** As many plans of an operation as Grafast keeps. */
const maxPlans = 50;

/** The memory limit of the statements' texts. */
const maxCharacters = 8_000_000;
/** What an entry takes beside its texts. */
const charactersOfEntry = 2000;

/**
 * Replaces @dataplan/pg's parsers of rows within rows by one-pass ones, for Grafast too.
 * Its own take twice as long for each level of lists within lists.
 */
function replaceParsers(plan: OperationPlan): void {
  for (const step of plan.getStepsByStepClass(LambdaStep) as { fn: { readonly name: string } }[]) {
    step.fn = parsers.get(step.fn.name) ?? step.fn;
  }
}

/** By the names of those in @dataplan/pg. */
const parsers: ReadonlyMap<string, { readonly name: string }> = new Map<string, { readonly name: string }>([
  ['pgInlineViaSubqueryTransform', subqueryRows],
  ['pgInlineViaJoinTransform', joinedRow],
]);
