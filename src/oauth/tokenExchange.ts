import type { RequestHandler } from 'express';
import oauth2orize from 'oauth2orize';
import type { Pool } from 'pg';
import type { Client } from './clientAuthentication.ts';
import { clientCredentials } from './grants/clientCredentials.ts';

/** The grant types of `POST /oauth/token`; whoever gets here is who they say, and their parameters are in order. */
export function createTokenExchange(pool: Pool): RequestHandler {
  const server = oauth2orize.createServer<Client>();
  server.exchange('client_credentials', clientCredentials(pool));
  return server.token();
}
