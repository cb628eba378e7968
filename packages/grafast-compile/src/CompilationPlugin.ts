import { type CompiledOperation, CompiledOperations } from './CompiledOperations.ts';
import { findOtherShape, findOtherVersion } from './findUnknown.ts';
import { operationsOf, withState } from './schemaState.ts';

declare global {
  namespace Grafast {
    interface Context {
      /** Whether an operation that can be compiled is not executed, but fails with {@link CompiledInstead}. */
      compilesOnly?: boolean;
    }
  }
}

export type CompilationOptions = {
  /** Whether operations are compiled, as by default. Else plans are only repaired, and answers limited. */
  readonly isEnabled?: boolean;
  /** Limit of an answer's data in UTF-16 code units, of at least a byte each; by default none. */
  readonly maxBytes?: number;
  /** Called when a schema is built whose operations Grafast executes, with what is not known. */
  readonly onUnknown?: (reason: string) => void;
};

/** Compiles each plan before Grafast executes it for the first time, if the libraries are known. */
export const createCompilationPlugin = ({
  isEnabled = true,
  maxBytes = Number.MAX_SAFE_INTEGER,
  onUnknown,
}: CompilationOptions): GraphileConfig.Plugin => ({
  name: 'CompilationPlugin',

  schema: {
    hooks: {
      GraphQLSchema(schema) {
        const otherVersion = findOtherVersion();
        // Repairs and the limit trust the tested versions. Compilation examines a plan of theirs, too.
        const otherShape = isEnabled || otherVersion !== null ? findOtherShape() : null;
        const unknown = [isEnabled ? otherVersion : null, otherShape].filter((reason) => reason !== null);
        if (unknown.length > 0) onUnknown?.(unknown.join('; '));
        return withState(schema, {
          operations: isEnabled && unknown.length === 0 ? new CompiledOperations(maxBytes) : null,
          hasKnownPlans: otherShape === null,
        });
      },
    },
  },

  grafast: {
    middleware: {
      establishOperationPlan(next, { schema, operation, context }) {
        const plan = next();
        const compiled = operationsOf(schema)?.compile(operation, plan);
        if (compiled && context.compilesOnly) throw new CompiledInstead(compiled);
        return plan;
      },
    },
  },
});

/** Ends an execution with the compiled operation in the place of an answer. */
export class CompiledInstead extends Error {
  override name = 'CompiledInstead';
  readonly compiled: CompiledOperation;

  constructor(compiled: CompiledOperation) {
    super('The operation was compiled');
    this.compiled = compiled;
  }
}
