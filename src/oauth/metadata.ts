import type { RequestHandler } from 'express';
import { scopeNames } from '../token/scopes.ts';
import { grantTypes } from './grants/grants.ts';

/** `GET /.well-known/oauth-authorization-server` (RFC 8414), generated from the implementation. */
export function describeServer(url: string): RequestHandler {
  const client = ['client_secret_basic', 'client_secret_post'];
  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    revocation_endpoint: `${url}/oauth/revoke`,
    introspection_endpoint: `${url}/oauth/introspect`,
    scopes_supported: scopeNames,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: [...client, 'none'],
    revocation_endpoint_auth_methods_supported: [...client, 'none'],
    introspection_endpoint_auth_methods_supported: [...client, 'Bearer'],
  };
  return (_request, response) => {
    response.json(metadata);
  };
}
