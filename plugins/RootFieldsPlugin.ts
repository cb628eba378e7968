import type { PgResource } from 'postgraphile/@dataplan/pg';
import { context, lambda, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { encodeNodeId } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';

/**
 * The root fields: `viewer` for a person's token, `app` for an application's own.
 * Each is one row of a view, selected by the claims. The wrong kind of token finds no row there anyway; the guard says why.
 * `Viewer.id` is the id of the user that the viewer is.
 */
export const RootFieldsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const { app, viewer } = build.pgResources;
  if (!app || !viewer)
    throw new Error('The views app_public.app and app_public.viewer are missing; run the migrations');

  return {
    typeDefs: gql`
      extend type Query {
        """The person that the access token was issued for. Needs a user token (scope \`me\`)."""
        viewer: Viewer

        """The API application that the access token was issued to, and all that it may read. Needs an app token (scope \`app\`)."""
        app: App
      }

      extend type Viewer {
        """Identifier of the user."""
        id: ID!
      }
    `,
    objects: {
      Query: {
        plans: {
          viewer: () => theOnlyRow(viewer, 'me'),
          app: () => theOnlyRow(app, 'app'),
        },
      },
      Viewer: {
        plans: {
          id: ($viewer: Step & { get(attribute: string): Step<string> }) =>
            lambda($viewer.get('id'), (uuid) => encodeNodeId(['User', uuid]), true),
        },
      },
    },
  };
}, 'RootFieldsPlugin');

/**
 * The row of such a view, or `FORBIDDEN`.
 * The check is a dependency and not a side effect, past which Grafast would not merge nested selections into one statement.
 */
function theOnlyRow(resource: PgResource, scope: string) {
  const $rows = resource.find().setUnique();
  const assert = (scopes: unknown) => assertScope(scopes as readonly string[], scope);
  assert.isSync = true;
  $rows.apply(lambda(context().get('scopes'), assert));
  return $rows.single();
}

/** @throws `FORBIDDEN` unless the token has this scope */
export function assertScope(scopes: readonly string[], scope: string): null {
  if (scopes.includes(scope)) return null;
  throw refusal('FORBIDDEN', `This needs an access token with scope "${scope}".`);
}
