import { timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import passport from 'passport';
import { Strategy as ClientPasswordStrategy } from 'passport-oauth2-client-password';
import type { Pool } from 'pg';
import { requestIdOf } from '../../http/middleware.ts';
import { fieldsOf, noRequest, type RequestId } from '../../observability/requestFields.ts';
import { identifyCaller } from '../../scheduling/caller.ts';
import { hashToken } from '../../token/format.ts';
import { invalidClient } from '../errors.ts';
import { type Application, findApplication } from './application.ts';
import { readClientCredentials } from './readClientCredentials.ts';

export type Client = {
  readonly application: Application;
  /** `none`: the client only gave its id. */
  readonly authentication: 'secret' | 'none';
  /** The address that the request came from; a proxy's word counts only if it is trusted (TRUST_PROXY). */
  readonly address: string;
  /** The id of the request, for the database's settings. */
  readonly requestId: RequestId;
  /** When the request had arrived, by `performance.now()`. */
  readonly receivedAt: number;
};

/**
 * Sets `request.oauthClient`, or refuses with invalid_client (RFC 6749 section 2.3).
 * An unknown client, a wrong secret, a secret from a public client and a missing one get the identical answer, after the same work.
 */
export function authenticateClient(pool: Pool): RequestHandler {
  const passportOfClients = new passport.Passport();
  passportOfClients.use(
    new ClientPasswordStrategy({ passReqToCallback: true }, (request, clientId, secret, done) => {
      const origin = originOf(request);
      findApplication(pool, clientId, origin.requestId)
        .then((found): Client => ({ application: verifySecret(found, secret), authentication: 'secret', ...origin }))
        .then((client) => done(null, client), done);
    }),
  );
  const authenticate: RequestHandler = passportOfClients.authenticate('oauth2-client-password', {
    session: false,
    assignProperty: 'oauthClient' satisfies keyof Request,
    failWithError: true,
  });

  return async (request, response, next) => {
    const { clientId, secret } = readClientCredentials(request, request.body);
    const authenticated = () => {
      fieldsOf(response).clientId = clientId;
      const { oauthClient } = request;
      // A client that only gives an id may be anyone.
      if (oauthClient?.authentication === 'secret') identifyCaller(oauthClient.application.organizationId);
      next();
    };
    if (secret === null) {
      request.oauthClient = await identify(pool, clientId, originOf(request));
      authenticated();
    } else {
      // The strategy reads them there, wherever the client sent them.
      request.body = { ...request.body, client_id: clientId, client_secret: secret };
      authenticate(request, response, (error?: unknown) => {
        if (error) next(isAuthenticationError(error) ? invalidClient('client_id or client_secret is empty') : error);
        else authenticated();
      });
    }
  };
}

/**
 * The client that `authenticateClient` has set.
 * @throws {OAuthError} invalid_client where it did not run
 */
export function requireClient({ oauthClient }: Request): Client {
  if (!oauthClient) throw invalidClient('the client was not authenticated');
  return oauthClient;
}

/** A phone cannot keep a secret, so the application of a mobile app may send none, as a public client. */
async function identify(pool: Pool, clientId: string, origin: Origin): Promise<Client> {
  const application = await findApplication(pool, clientId, origin.requestId);
  if (!application) throw invalidClient(unknownClient);
  if (application.confidential && !application.mobileApp) throw invalidClient('the client sent no secret, and has one');
  return { application, authentication: 'none', ...origin };
}

type Origin = Pick<Client, 'address' | 'requestId' | 'receivedAt'>;

const originOf = (request: Request): Origin => ({
  address: request.ip ?? '',
  requestId: request.res ? requestIdOf(request.res) : noRequest,
  receivedAt: (request.res && fieldsOf(request.res).arrivedAt) ?? performance.now(),
});

/**
 * The application if the secret is one of its own.
 * It always compares the secret with two hashes, even if the application has fewer, so that the time shows nothing. Only the log has the
 * reason.
 *
 * @throws {OAuthError} invalid_client
 */
function verifySecret(application: Application | null, secret: string): Application {
  const hash = hashToken(secret);
  const [newest = noHash, previous = noHash] = application?.secretHashes ?? [];
  const matches = [timingSafeEqual(hash, newest), timingSafeEqual(hash, previous)];
  if (!application) throw invalidClient(unknownClient);
  if (!application.confidential) throw invalidClient('a public client sent a secret');
  if (!matches.includes(true)) throw invalidClient('the secret is wrong');
  return application;
}

const unknownClient = 'no enabled application has this client_id';

/** A SHA-256 without a known preimage. */
const noHash = Buffer.alloc(32);

const isAuthenticationError = (error: unknown) => error instanceof Error && error.name === 'AuthenticationError';
