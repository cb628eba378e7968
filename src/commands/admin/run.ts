import type { AdminContext } from './withOwner.ts';

/** Runs the work of a command and prints what it results in as JSON. */
export type Run = (work: (context: AdminContext) => Promise<unknown>) => Promise<void>;

/** The same for a command that reads something first: once the configuration is known to be right, before a database is opened. */
export type RunWithInput = <Input>(
  read: () => Promise<Input>,
  work: (context: AdminContext, input: Input) => Promise<unknown>,
) => Promise<void>;
