/**
 * The service cannot start or a command cannot run, for a reason that the person who started it can remove. Its message
 * says how; it is shown alone, without a stack.
 */
export class StartupError extends Error {
  override name = 'StartupError';
}
