export { TooLongError } from './byteBudget.ts';
export type { CompiledOperation } from './CompilationPlugin.ts';
export { executeCompiled, type OperationRequest, type OperationResult } from './executeCompiled.ts';
export type { Row } from './parseRows.ts';
export { type CompilationOptions, createCompilationPreset } from './preset.ts';
