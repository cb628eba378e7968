import { createByteLimitPlugin } from './ByteLimitPlugin.ts';
import { createCompilationPlugin } from './CompilationPlugin.ts';
import { PolymorphicPathsPlugin } from './PolymorphicPathsPlugin.ts';
import { SymbolAliasesPlugin } from './SymbolAliasesPlugin.ts';

export type CompilationOptions = {
  /** Whether operations are compiled, as by default. Else plans are only repaired, and answers limited. */
  readonly isEnabled?: boolean;
  /** Limit of an answer's data in UTF-16 code units, of at least a byte each; by default none. */
  readonly maxBytes?: number;
  /** Called when a schema is built whose operations Grafast executes, with what is not known. */
  readonly onUnknown?: (reason: string) => void;
};

/** The preset that compiles operations, for `extends` of a PostGraphile preset. */
export function createCompilationPreset({
  isEnabled = true,
  maxBytes = Number.MAX_SAFE_INTEGER,
  onUnknown,
}: CompilationOptions = {}): GraphileConfig.Preset {
  return {
    plugins: [
      // Outermost, so that all others have seen a plan when it is compiled.
      ...(isEnabled ? [createCompilationPlugin(maxBytes, onUnknown)] : []),
      PolymorphicPathsPlugin,
      SymbolAliasesPlugin,
      createByteLimitPlugin(maxBytes),
    ],
  };
}
