import { createByteLimitPlugin } from './ByteLimitPlugin.ts';
import { type CompilationOptions, createCompilationPlugin } from './CompilationPlugin.ts';
import { PolymorphicPathsPlugin } from './PolymorphicPathsPlugin.ts';
import { SymbolAliasesPlugin } from './SymbolAliasesPlugin.ts';

/** The preset that compiles operations, for `extends` of a PostGraphile preset. */
export const createCompilationPreset = (options: CompilationOptions = {}): GraphileConfig.Preset => ({
  plugins: [
    // Outermost, so that all others have seen a plan when it is compiled.
    createCompilationPlugin(options),
    PolymorphicPathsPlugin,
    SymbolAliasesPlugin,
    ...(options.maxBytes === undefined ? [] : [createByteLimitPlugin(options.maxBytes)]),
  ],
});
