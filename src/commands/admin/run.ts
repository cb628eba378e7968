import type { AdminContext } from './withOwner.ts';

/** Runs the work of a command and prints what it results in as JSON. */
export type Run = (work: (context: AdminContext) => Promise<unknown>) => Promise<void>;

/** For a command that reads input first: with a correct configuration, before a database is opened. */
export type RunWithInput = <Input>(
  read: () => Promise<Input>,
  work: (context: AdminContext, input: Input) => Promise<unknown>,
) => Promise<void>;
