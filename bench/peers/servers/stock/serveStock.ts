import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Pool } from 'pg';
import { postgraphile } from 'postgraphile';
import { grafserv } from 'postgraphile/grafserv/node';
import type { Claims } from '../../../../src/token/settings.ts';
import { authenticate, settingsOf } from '../authenticate.ts';
import { createPipelinedPool } from '../queryPipelined.ts';
import { createStockPreset } from './createStockPreset.ts';

/** PostGraphile as its users run it: its adaptor for `pg`, and its server with the settings for production. */
export async function serveStock(authUrl: string): Promise<Server> {
  const claimsByRequest = new WeakMap<IncomingMessage, Claims>();
  const claimsOf = ({ node }: Partial<Grafast.RequestContext>) => {
    const claims = node && claimsByRequest.get(node.req);
    if (!claims) throw new Error('The request is not authenticated.');
    return claims;
  };
  const pool = new Pool({ connectionString: authUrl });
  pool.on('error', ({ message }) => console.error(message));
  const preset = createStockPreset(pool, {
    pgSettings: (context) => settingsOf(claimsOf(context)),
    context: (context) => {
      const { scopes, organizationId } = claimsOf(context);
      return { scopes, organizationId };
    },
  });
  const instance = postgraphile(preset).createServ(grafserv);
  await instance.ready();

  const lookups = createPipelinedPool(authUrl, 2);
  const inner = createServer();
  await instance.addTo(inner, false);
  return createServer((request, response) => {
    authenticate(lookups, request).then(
      (claims) => {
        claimsByRequest.set(request, claims);
        inner.emit('request', request, response);
      },
      () => response.writeHead(401).end(),
    );
  });
}
