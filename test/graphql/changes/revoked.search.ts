import { rotateSecret } from '../../../src/commands/admin/applicationSecrets.ts';
import { endApplicationTokens, setApplicationDisabled } from '../../../src/commands/admin/applications.ts';
import { sizeOf } from '../../support/search.ts';
import { shareService } from '../../support/sharedService.ts';
import { createTenant, createUnit, type GraphTest, issueToken, type Tenant } from '../support.ts';
import { openStream } from './eventStream.ts';
import type { Change } from './feed.ts';

// A stream has nothing that was written after the end of its token was acknowledged: a race, which more rounds find more surely.
const rounds = sizeOf({ small: 6, whole: 40 });

let graph: GraphTest;
let tenant: Tenant;
let secret: string;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  secret = (await rotateSecret(tenant.owner, clientId())).clientSecret;
});

const clientId = () => `client-${tenant.applicationId}`;
const send = async (path: string, init: RequestInit) => {
  const { status } = await fetch(`${graph.url}${path}`, init);
  expect(status).toBe(200);
};

/** An application has one grant of its own. */
async function issueAnew(): Promise<string> {
  await setApplicationDisabled(tenant.owner, clientId(), false);
  await endApplicationTokens(tenant.owner, clientId());
  return issueToken(tenant, ['app']);
}

/** A token of an application that stays. */
async function issueOther(): Promise<string> {
  const { owner, organizationId } = tenant;
  const { rows } = await owner.query(
    `insert into oauth.applications (organization_id, name, client_id, scopes)
     values ($1, 'Other', gen_random_uuid()::text, '{app}') returning id`,
    [organizationId],
  );
  return issueToken({ owner, organizationId, applicationId: rows[0].id }, ['app']);
}

test.each<[string, (token: string) => Promise<unknown>]>([
  [
    'POST /oauth/revoke',
    (token) => {
      const body = new URLSearchParams({ token, client_id: clientId(), client_secret: secret });
      return send('/oauth/revoke', { method: 'POST', body });
    },
  ],
  [
    'DELETE /oauth/token',
    (token) => send('/oauth/token', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } }),
  ],
  ['admin end-application-tokens', () => endApplicationTokens(tenant.owner, clientId())],
  ['admin disable-application', () => setApplicationDisabled(tenant.owner, clientId(), true)],
])(`%s, in each of ${rounds} rounds, and a token that goes on has it`, async (_what, end) => {
  const other = await openStream(graph, await issueOther());
  const written: string[] = [];
  const write = async () => {
    const { id } = await createUnit(tenant);
    written.push(id);
    return id;
  };

  for (let round = 0; round < rounds; round++) {
    const token = await issueAnew();
    const streams = await Promise.all(Array.from({ length: 3 }, () => openStream(graph, token)));
    await write();
    await Promise.all([end(token), write(), write()]);
    const after = await write();

    for (const stream of streams) {
      const events = await stream.rest();
      const changes = events.flatMap(({ event, data }) =>
        event === 'next' ? [JSON.parse(data).data.changes as Change] : [],
      );
      expect(changes.map(({ id }) => id)).not.toContain(after);
      expect(events.at(-1)?.event).toBe('complete');
    }
  }

  const changes = await other.changes(written.length);
  expect(changes.map(({ id }) => id).sort()).toEqual(written.sort());
  other.close();
});
