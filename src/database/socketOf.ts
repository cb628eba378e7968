import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** What the driver's connection has, though its types do not say so. */
type WithSocket = { readonly connection: { readonly stream: Socket } };

export const socketOf = (client: ClientBase): Socket => (client as ClientBase & WithSocket).connection.stream;
