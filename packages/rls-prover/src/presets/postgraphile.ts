import { type Preset, tenantName, userNames, withoutPlatform } from './preset.ts';

/**
 * PostGraphile, and any server that sets one setting for each claim, such as `jwt.claims.user_id`.
 *
 * A setting that a policy, view or function reads is a claim, as text, unless it is `role` or PostgreSQL's own. The client's id comes from a
 * function without arguments, such as `current_user_id()`, or else from the setting with such a name.
 *
 * https://postgraphile.org/postgraphile/5/jwt-guide, `pgSettings`
 */
export const postgraphile: Preset = {
  ...withoutPlatform,
  name: 'postgraphile',
  stateClaims({ settings, userFunctions: [userFunction] }) {
    const claims = settings.map((setting) => ({ name: nameOf(setting), setting, type: 'text' }));
    const named = userNames.find((name) => claims.some((claim) => claim.name.endsWith(name)));
    const claim = claims.find(({ name }) => named !== undefined && name.endsWith(named));
    const setting = settings.find((name) => tenantName.test(lastOf(name)) && nameOf(name) !== claim?.name);
    return {
      ...{ claims, assumed: [], user: userFunction ? `${userFunction}()` : claim ? `claims.${claim.name}` : null },
      tenant: setting ? { column: lastOf(setting), expression: `claims.${nameOf(setting)}` } : null,
    };
  },
  claimsOf(role, person, found) {
    const { user } = postgraphile.stateClaims(found);
    return Object.fromEntries(
      found.settings.map((setting) => {
        const name = nameOf(setting);
        const key = lastOf(setting);
        if (key === 'role') return [name, person ? role : ''];
        const isUser = user === `claims.${name}`;
        return [name, (isUser ? person?.('') : person?.(key)) ?? ''];
      }),
    );
  },
};

const nameOf = (setting: string) => setting.replaceAll(/[^a-z0-9]+/gi, '_').toLowerCase();
const lastOf = (setting: string) => setting.slice(setting.lastIndexOf('.') + 1);
