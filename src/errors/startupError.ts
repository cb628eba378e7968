/**
 * The service cannot start or a command cannot run, for a reason that its user can remove.
 * Its message says how; it is shown alone, without a stack.
 */
export class StartupError extends Error {
  override name = 'StartupError';
}
