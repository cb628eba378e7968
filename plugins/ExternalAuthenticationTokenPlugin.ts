import { context, lambda, list, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { assertScope } from './RootFieldsPlugin.ts';
import { unusableIn } from './values.ts';

/** `User.externalAuthenticationToken`: opened here, where the key is, for application tokens only. */
export const ExternalAuthenticationTokenPlugin: GraphileConfig.Plugin = extendSchema(
  {
    typeDefs: gql`
      extend type User {
        """Token used for external authentication. Readable with an app token only."""
        externalAuthenticationToken: String
      }
    `,
    objects: {
      User: {
        plans: {
          externalAuthenticationToken($user: Step & { get(attribute: string): Step }) {
            const $owner = list([$user.get('organization_id'), $user.get('id')]);
            const $ciphertext = $user.get('external_authentication_token_ciphertext');
            return lambda(list([context(), $ciphertext, $owner]), openToken);
          },
        },
      },
    },
  },
  'ExternalAuthenticationTokenPlugin',
);

function openToken([graph, ciphertext, [organizationId, userId]]: readonly [
  Grafast.Context,
  Buffer | null,
  readonly [string, string],
]): string | null {
  assertScope(graph.scopes, 'app');
  return ciphertext && graph.openExternalAuthenticationToken(ciphertext, { organizationId, userId });
}
/** For compilation: the function may throw, but never waits. */
openToken.isSync = true;

/** Why a text cannot be an external authentication token, for the client; else null. */
export function problemOfToken(token: string): string | null {
  const unusable = unusableIn(token);
  if (unusable) return `externalAuthenticationToken ${unusable}.`;
  const { length } = [...token];
  return length < 16 || length > 500 ? 'An external authentication token has 16 to 500 characters.' : null;
}

/** An external authentication token as functions of SQL take it: sealed for one user, in hex. */
export function sealedToken(graph: Grafast.Context, token: string, userId: string) {
  const owner = { organizationId: graph.organizationId, userId };
  const sealed = Object.entries(graph.sealExternalAuthenticationToken(token, owner));
  return { userId, ...Object.fromEntries(sealed.map(([name, bytes]) => [name, bytes?.toString('hex')])) };
}

/** The ids of users by their external identifiers. A token is sealed for the id of its user. */
export async function findUserIds(
  graph: Grafast.Context,
  externalIdentifiers: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) =>
    client.query<{ external_identifier: string; id: string }>({
      text: 'select external_identifier, id from app_public.users where external_identifier = any ($1)',
      values: [externalIdentifiers],
    }),
  );
  return new Map(rows.map(({ external_identifier, id }) => [external_identifier, id]));
}
