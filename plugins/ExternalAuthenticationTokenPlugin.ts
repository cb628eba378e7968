import { context, lambda, list, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { assertScope } from './RootFieldsPlugin.ts';

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
