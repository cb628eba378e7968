/**
 * The service cannot start or a command cannot run, for a reason that its user can remove.
 * The message has the remedy, and is printed without a stack.
 */
export class StartupError extends Error {
  override name = 'StartupError';
}
