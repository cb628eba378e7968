import { escapeLiteral } from 'pg';
import type { Found, Preset, StatedClaims } from './preset.ts';
import { tenantName, userNames } from './preset.ts';

/**
 * Claims as PostgREST sets them: a JWT's payload as JSON in `request.jwt.claims`.
 *
 * It always sets this, and the payload has the role as which it runs the request. Before version 9, and with `db-use-legacy-gucs`, each claim
 * is in a setting of its own, too, such as `request.jwt.claim.sub`.
 *
 * https://docs.postgrest.org/en/stable/references/transactions.html#request-headers-cookies-and-jwt-claims
 */
export function stateJsonClaims({ settings, keys, anonymousRoles }: Found): StatedClaims {
  const legacy = settings
    .filter((name) => name.startsWith(`${legacySetting}.`))
    .map((name) => name.slice(legacySetting.length + 1));
  const claims = [
    { name: 'jwt', setting, type: 'jsonb' },
    ...legacy.map((key) => ({ name: `legacy_${key}`, setting: `${legacySetting}.${key}`, type: 'text' })),
    ...(settings.includes(legacySetting) ? [{ name: 'legacy', setting: legacySetting, type: 'text' }] : []),
  ];
  const of = (key: string) => `claims.jwt ->> ${escapeLiteral(key)}`;
  const userKey = userNames.find((name) => keys.includes(name) || legacy.includes(name)) ?? 'sub';
  const assumed = [
    'claims.jwt is not null',
    `${of('role')} = claims.role`,
    ...legacy.map((key) => `claims.legacy_${key} is null or claims.legacy_${key} = ${of(key)}`),
    ...(settings.includes(legacySetting) ? ['claims.legacy is null'] : []),
    // `json` keeps a payload's text, and yields the same.
    ...[...new Set([...keys, userKey, 'role'])].map(
      (key) =>
        `(current_setting('${setting}', true)::json ->> ${escapeLiteral(key)}) is not distinct from (${of(key)})`,
    ),
    ...anonymousRoles.map((role) => `claims.role <> ${escapeLiteral(role)} or (${of(userKey)}) is null`),
  ];
  const tenantKey = keys.find((key) => key !== userKey && tenantName.test(key));
  const tenant = tenantKey === undefined ? null : { column: tenantKey, expression: of(tenantKey) };
  return { claims, assumed, user: of(userKey), tenant };
}

/** A payload with what is known of a person by the names of keys, also below `app_metadata` and `user_metadata`. */
export const jsonClaimsOf: Preset['claimsOf'] = (role, person, { keys, settings }) => {
  const userKey =
    userNames.find((name) => keys.includes(name) || settings.includes(`${legacySetting}.${name}`)) ?? 'sub';
  const values: Record<string, string> = {};
  for (const key of new Set([userKey, 'email', ...keys])) {
    const value = key === userKey ? person?.('') : person?.(key);
    if (value !== undefined && !['role', 'app_metadata', 'user_metadata'].includes(key)) values[key] = value;
  }
  const nested = person === null ? {} : { app_metadata: values, user_metadata: values };
  return { jwt: JSON.stringify({ ...values, ...(keys.some((key) => /metadata$/.test(key)) ? nested : {}), role }) };
};

const setting = 'request.jwt.claims';
const legacySetting = 'request.jwt.claim';
