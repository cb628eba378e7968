export { TooLongError } from './byteBudget.ts';
export type { CompilationOptions } from './CompilationPlugin.ts';
export type { CompiledOperation } from './CompiledOperations.ts';
export { executeCompiled, type OperationRequest, type OperationResult } from './executeCompiled.ts';
export type { Row } from './parseRows.ts';
export { createCompilationPreset } from './preset.ts';
