import type { Caller } from '../access.ts';
import { issueToken, type Service } from '../service.ts';
import type { World } from './drawWorld.ts';
import { clientIdOf, type Provisioned, password } from './provision.ts';

/** Who asks, with the token that the service has given for it. */
export type Signed = { readonly name: string; readonly caller: Caller; readonly token: string };

/** Fetches a token for each: of the first organization an app token, four persons' and a basic one, of the second an app token and two persons'. */
export async function signIn(service: Service, world: World, { secrets }: Provisioned): Promise<Signed[]> {
  const signed: Signed[] = [];
  for (const [index, organizationId] of world.organizations.entries()) {
    const organization = world.rows.organizations.find(({ id }) => id === organizationId);
    const application = `Back End of ${organization?.name}`;
    const credentials = { client_id: clientIdOf(organizationId), client_secret: secrets.get(organizationId) ?? '' };
    const place = index === 0 ? '' : ', next door';
    for (const kind of index === 0 ? (['app', 'basic'] as const) : (['app'] as const)) {
      const token = await issueToken(service.url, { grant_type: 'client_credentials', scope: kind, ...credentials });
      signed.push({ name: kind + place, caller: { kind, organizationId, applicationName: application }, token });
    }
    const persons = world.persons.filter((person) => person.organizationId === organizationId);
    const reaches = ['nothing', 'a leaf', 'several', 'a root'];
    for (const [nth, person] of persons.entries()) {
      if (index === 1 && nth < 2) continue;
      const token = await issueToken(service.url, {
        grant_type: 'password',
        scope: 'me',
        client_id: `${clientIdOf(organizationId)}-mobile`,
        username: person.email,
        password,
      });
      const caller = { kind: 'person', organizationId, userId: person.id } as const;
      signed.push({ name: `person who reaches ${reaches[nth]}${place}`, caller, token });
    }
  }
  return signed;
}
