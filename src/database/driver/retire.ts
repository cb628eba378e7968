import type { ClientBase } from 'pg';

const retired = new WeakSet<ClientBase>();

/** Marks the connection: the pool does not hand it out again; the request that has it may go on. */
export function retire(client: ClientBase): void {
  retired.add(client);
}

export const isRetired = (client: ClientBase): boolean => retired.has(client);
