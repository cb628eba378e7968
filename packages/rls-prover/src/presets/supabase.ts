import { jsonClaimsOf, stateJsonClaims } from './jsonClaims.ts';
import type { Preset } from './preset.ts';

/**
 * Supabase: PostgREST as `anon` or `authenticated`, with the schema `public`.
 *
 * `auth.uid()`, `auth.jwt()` and `auth.role()` are functions of the database, which are read as they are there. The key `sub` of a token is
 * `auth.users.id`. `service_role` bypasses policies, and is no client.
 *
 * https://supabase.com/docs/guides/database/postgres/row-level-security
 */
export const supabase: Preset = {
  name: 'supabase',
  roles: ['anon', 'authenticated'],
  anonymous: /^anon/,
  schemas: ['public'],
  platform:
    '^(auth|storage|_?realtime|vault|extensions|graphql|graphql_public|pgbouncer|supabase_(functions|migrations)|net|cron|pgsodium(_masks)?|pgmq(_public)?|_analytics|_supavisor|pgtle|dbdev)$',
  asked: /^(auth|storage)$/,
  stateClaims: (found) => ({
    ...stateJsonClaims({ ...found, keys: [...found.keys, 'sub'] }),
    user: `claims.jwt ->> 'sub'`,
  }),
  claimsOf: (role, person, found) => jsonClaimsOf(role, person, { ...found, keys: [...found.keys, 'sub'] }),
};
