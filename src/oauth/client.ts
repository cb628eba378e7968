import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import passport from 'passport';
import { Strategy as ClientPasswordStrategy } from 'passport-oauth2-client-password';
import type { Pool } from 'pg';
import { requestIdOf } from '../http/middleware.ts';
import { fieldsOf, noRequest, type RequestId } from '../observability/requestFields.ts';
import { identifyCaller } from '../scheduling/caller.ts';
import { hashToken } from '../token/accessTokens.ts';
import type { Scope } from '../token/scopes.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import { invalidClient, invalidRequest } from './errors.ts';
import { decode, type Parameters } from './form.ts';

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

/** The credentials that a client sent. Without a secret it only gave its id. */
type ClientCredentials = { readonly clientId: string; readonly secret: string | null };

/**
 * Decides once by which method the client authenticates (RFC 6749 section 2.3).
 * The methods are HTTP Basic, secret in the body, or none. If one fails, no other is tried.
 *
 * @throws {OAuthError} invalid_request for two methods at once, invalid_client for none or one that is not supported
 */
function readClientCredentials(request: IncomingMessage, parameters: Parameters): ClientCredentials {
  const headers = request.headersDistinct.authorization ?? [];
  const [header] = headers;
  if (headers.length > 1) throw invalidRequest('Send one Authorization header.');
  if (header === undefined) {
    if (parameters.client_id === undefined) throw invalidClient('client_id is missing');
    return { clientId: parameters.client_id, secret: parameters.client_secret ?? null };
  }

  if (parameters.client_secret !== undefined) {
    throw invalidRequest('The client authenticates twice: use HTTP Basic or client_secret, not both.');
  }
  const basic = readBasic(header);
  if (parameters.client_id !== undefined && parameters.client_id !== basic.clientId) {
    throw invalidRequest('client_id is not the client of the Authorization header.');
  }
  return basic;
}

/**
 * RFC 7617, with both parts form-encoded before (RFC 6749 section 2.3.1).
 * An empty secret is none, as in the body (section 3.2): Go's OAuth client sends one for a public client.
 */
function readBasic(header: string): ClientCredentials {
  const encoded = /^basic +([a-z\d+/_-]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) throw invalidClient('the Authorization header is not HTTP Basic');
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient('HTTP Basic without a colon');
  try {
    return { clientId: decode(id), secret: decode(secret) || null };
  } catch {
    // RFC 6749 section 5.2: a failure in the Authorization header is answered with 401.
    throw invalidClient('HTTP Basic is not form-encoded UTF-8');
  }
}

/** An API application: a client in the sense of RFC 6749. */
export type Application = {
  readonly organizationId: string;
  readonly id: string;
  /** The name for people. */
  readonly name: string;
  readonly clientId: string;
  /** Whether it can keep a secret (RFC 6749 section 2.1); a public one has none. */
  readonly confidential: boolean;
  readonly scopes: readonly Scope[];
  /** Where a person may be sent back to it (RFC 6749 section 3.1.2). */
  readonly redirectUris: readonly string[];
  /** The name of the grant by which the users of its mobile app sign in; null without a mobile app. */
  readonly mobileApp: string | null;
  /** SHA-256 of the secrets that are valid now, at most two. */
  readonly secretHashes: readonly Buffer[];
};

/**
 * The enabled application with this client id, in any organization, or null.
 *
 * @throws a database error for which `hasMoved` holds when its organization is not served here
 */
export async function findApplication(pool: Pool, clientId: string, requestId: RequestId): Promise<Application | null> {
  const { rows } = await queryOnce<Omit<Application, 'clientId'>>(pool, oauthSettings(null, requestId), {
    name: 'find_application',
    text: `
      select organization_id as "organizationId", id, name, confidential, scopes, redirect_uris as "redirectUris",
        mobile_app_authentication_type as "mobileApp", secret_hashes as "secretHashes"
      from oauth.find_application($1) as application, app_hidden.require_service(application.organization_id)`,
    values: [clientId],
  });
  return rows[0] ? { ...rows[0], clientId } : null;
}
