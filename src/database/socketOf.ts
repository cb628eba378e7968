import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** The driver's fields of a connection, which its types lack. */
type WithSocket = { readonly connection: { readonly stream: Socket } };

export const socketOf = (client: ClientBase): Socket => (client as ClientBase & WithSocket).connection.stream;
