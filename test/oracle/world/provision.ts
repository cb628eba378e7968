import { randomOf } from '../random.ts';
import type { User } from '../rows.ts';
import { applyOrganizations } from '../service.ts';
import type { World } from './drawWorld.ts';

export const password = 'correct horse battery';

/** What provisioning gives that no row has in clear: secrets of applications, and external authentication tokens by organization and user. */
export type Provisioned = {
  readonly secrets: ReadonlyMap<string, string>;
  readonly tokens: ReadonlyMap<string, string>;
};

/** Gives the organizations applications, persons passwords and some users external authentication tokens, by `admin apply`. */
export async function provision(ownerUrl: string, worlds: readonly World[]): Promise<Provisioned> {
  const secrets = new Map<string, string>();
  const tokens = new Map<string, string>();
  const organizations = worlds.flatMap((world, index) =>
    world.rows.organizations.map(({ id, name }) => {
      const random = randomOf('tokens', index);
      const users = world.rows.users.filter(({ organizationId }) => organizationId === id);
      const isPerson = (user: User) => world.persons.includes(user);
      const secret = `secret of ${name}`.padEnd(32, '.');
      secrets.set(id, secret);
      return {
        name,
        applications: [
          { name: `Back End of ${name}`, clientId: clientIdOf(id), clientSecret: secret, scopes: ['app', 'basic'] },
          {
            name: `Mobile of ${name}`,
            clientId: `${clientIdOf(id)}-mobile`,
            confidential: false,
            scopes: ['me'],
            mobileApp: { authenticationType: 'password' },
          },
        ],
        users: users
          .filter((user) => isPerson(user) || /^e-\d+$/.test(user.externalIdentifier ?? ''))
          .map((user) => {
            // The same in both organizations, as a token is unique in its own alone.
            const token = random.chance(0.5) ? `external token 😀 ${user.externalIdentifier}` : undefined;
            if (token) tokens.set(`${id} ${user.id}`, token);
            return {
              externalIdentifier: user.externalIdentifier,
              fullName: user.fullName,
              email: user.email,
              locale: user.locale,
              timeZone: user.timeZone,
              ...(isPerson(user) && { password }),
              ...(token && { externalAuthenticationToken: token }),
            };
          }),
      };
    }),
  );

  await applyOrganizations(ownerUrl, organizations);
  return { secrets, tokens };
}

export const clientIdOf = (organizationId: string): string => `oracle-${organizationId}`;
