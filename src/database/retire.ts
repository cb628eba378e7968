import type { ClientBase } from 'pg';

const retired = new WeakSet<ClientBase>();

/** The pool does not hand the connection out again. Whoever has it may go on. */
export function retire(client: ClientBase): void {
  retired.add(client);
}

export const isRetired = (client: ClientBase): boolean => retired.has(client);
