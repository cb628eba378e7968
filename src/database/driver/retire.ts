import type { ClientBase } from 'pg';

const retired = new WeakSet<ClientBase>();

/** Marks the connection, so that the pool does not hand it out again; its present request may finish. */
export function retire(client: ClientBase): void {
  retired.add(client);
}

export const isRetired = (client: ClientBase): boolean => retired.has(client);
