import { jsonClaimsOf, stateJsonClaims } from './jsonClaims.ts';
import { type Preset, platform } from './preset.ts';

/**
 * PostgREST: the roles that its login may become, and the schemas that they may use.
 *
 * https://docs.postgrest.org/en/stable/references/auth.html
 */
export const postgrest: Preset = {
  name: 'postgrest',
  roles: null,
  anonymous: /anon|guest/,
  schemas: null,
  platform,
  asked: /^$/,
  stateClaims: stateJsonClaims,
  claimsOf: jsonClaimsOf,
};
