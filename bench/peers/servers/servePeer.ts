import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `node servePeer.ts <peer>`, a child process: serves the peer with the database in AUTH_DATABASE_URL on a free port of
 * 127.0.0.1 and sends the port to the parent. It ends with its parent.
 */
export type Serve = (authUrl: string) => Promise<Server>;

const peers: Record<string, () => Promise<Serve>> = {
  sql: async () => (await import('./sql/serveSql.ts')).serveSql,
  stock: async () => (await import('./stock/serveStock.ts')).serveStock,
  apollo: async () => (await importInstalled('serveApollo')).serveApollo as Serve,
  mercurius: async () => (await importInstalled('serveMercurius')).serveMercurius as Serve,
};

/** From the package beside this file, which TypeScript looks at only where it is installed. */
const importInstalled = (file: string): Promise<Record<string, unknown>> => import(`./resolvers/${file}.ts`);

const [, , name = ''] = process.argv;
const load = peers[name];
if (!load) throw new Error(`There is no peer ${name}; there are ${Object.keys(peers).join(', ')}.`);
const serve = await load();
const server = await serve(process.env.AUTH_DATABASE_URL ?? '');
if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
process.send?.((server.address() as AddressInfo).port);
process.once('disconnect', () => process.exit());
// The parent decides when to end.
process.on('SIGINT', () => undefined);
