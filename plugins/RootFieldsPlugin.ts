import type { PgResource } from 'postgraphile/@dataplan/pg';
import { context, lambda } from 'postgraphile/grafast';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { extendSchema, gql } from 'postgraphile/utils';
import { refusal } from './refusal.ts';

/**
 * The root fields: `viewer` for a person's token, `app` for an application's own.
 * Each is one row, selected by the claims. The wrong kind of token finds no row there anyway; the guard gives the reason.
 */
export const RootFieldsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const { app, users } = build.pgResources;
  if (!app || !users)
    throw new Error('The view app_public.app or the table app_public.users is missing; run the migrations');

  return {
    typeDefs: gql`
      extend type Query {
        """The person that the access token was issued for. Needs a user token (scope \`me\`)."""
        viewer: User

        """The API application that the access token was issued to, and all that it may read. Needs an app token (scope \`app\`)."""
        app: App
      }
    `,
    objects: {
      Query: {
        plans: {
          viewer: () => theOnlyRow(users, sql`app_hidden.current_user_id()`, 'me'),
          app: () => theOnlyRow(app, sql`app_hidden.current_application_id()`, 'app'),
        },
      },
    },
  };
}, 'RootFieldsPlugin');

/**
 * The row whose id is a claim, or `FORBIDDEN`.
 * The check is a dependency of the row and not a side effect, since Grafast merges no nested selection across a side effect.
 */
function theOnlyRow(resource: PgResource, claim: SQL, scope: string) {
  const $rows = resource.find().setUnique();
  $rows.where(sql`${$rows.alias}.id = (select ${claim})`);
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
