import { keyOf, unknownOrganization, type World } from './world.ts';

/** The roles of requests; `none` is the authenticator itself. */
export const roles = ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'none'] as const;
export type Role = (typeof roles)[number];

/** The claims of a transaction; an absent claim is `''`. */
export type Claims = { organization: string; application: string; user: string };
export type Principal = { role: Role; claims: Claims };

/** Every role with all kinds of claims: those that tokens make, and foreign, partial and absent ones that none makes. */
export function principalsOf(world: World): Principal[] {
  const [a = '', b = ''] = world.organizations;
  const application = keyOf(world, 'application', a, 0);
  const user = keyOf(world, 'user', a, 0);
  const claims: Claims[] = [
    ...world.applications.map((row) => ({ organization: row.organization, application: row.application, user: '' })),
    ...world.users.map((row) => ({
      organization: row.organization,
      application: keyOf(world, 'application', row.organization, 0),
      user: row.user,
    })),
    { organization: b, application, user },
    { organization: unknownOrganization, application, user },
    { organization: '', application, user },
    { organization: a, application: '', user: '' },
    { organization: '', application: '', user: '' },
  ];
  return claims.flatMap((claims) => roles.map((role) => ({ role, claims })));
}

/** The settings of the principal's transactions: every key that a server sets. */
export function settingsOf({ role, claims }: Principal): Record<string, string> {
  return {
    role,
    'graph.organization_id': claims.organization,
    'graph.application_id': claims.application,
    'graph.user_id': claims.user,
    'graph.scope': { graph_app: 'app', graph_user: 'me', graph_basic: 'basic', graph_oauth: '', none: '' }[role],
    'graph.grant_id': '',
    'graph.request_id': 'test',
    'graph.server_request_id': '',
    'graph.row_limit': '',
    lock_timeout: '0',
  };
}
