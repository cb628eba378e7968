import { jsonClaimsOf, stateJsonClaims } from './jsonClaims.ts';
import { type Preset, withoutPlatform } from './preset.ts';

/**
 * PostgREST: the roles that its login may become, and the schemas that they may use.
 *
 * https://docs.postgrest.org/en/stable/references/auth.html
 */
export const postgrest: Preset = {
  ...withoutPlatform,
  name: 'postgrest',
  stateClaims: stateJsonClaims,
  claimsOf: jsonClaimsOf,
};
