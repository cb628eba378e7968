import { randomUUID } from 'node:crypto';
import { shareService } from '../../support/sharedService.ts';
import { createTenant, type GraphTest, read, type Tenant } from '../support.ts';
import { bodyOf, expectReplay, type Options, replayedOf, sendKeyed } from './sendKeyed.ts';

// What a replay shows of the secrets of webhooks.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const send = (key: string | null, options: Options) => sendKeyed(graph, tenant, key, options);

describe('a replay shows the secret of a webhook', () => {
  const webhook = (url: string) =>
    `webhookCreate(url: "https://example.com/${url}") { secret again: secret webhook { id } }`;
  const both = `mutation { one: ${webhook('one')} two: ${webhook('two')} }`;
  const run = (query: string, id: string) => read(graph, tenant.app, query, { id });
  type Made = { secret: string; again: string; webhook: { id: string } };
  /** Two webhooks, whose answer is kept, and what a replay shows of their secrets. */
  const createTwo = async () => {
    const key = randomUUID();
    const first = await send(key, { query: both });
    const { one, two } = bodyOf(first).data as { one: Made; two: Made };
    const replayed = async () => {
      const again = await send(key, { query: both });
      expect([again.status, replayedOf(again)]).toEqual([200, 'true']);
      const { data } = bodyOf(again) as { data: { one: Made; two: Made } };
      const shown = [data.one.secret, data.two.secret].map((secret) => secret !== null);
      // All else is as it was.
      const nulls = [one, two].flatMap(({ secret }, index) => (shown[index] ? [] : [`"${secret}"`]));
      expect(again.text).toBe(nulls.reduce((text, secret) => text.replaceAll(secret, 'null'), first.text));
      return shown;
    };
    return { key, first, one, two, replayed };
  };
  const remove = 'mutation ($id: ID!) { webhookDelete(id: $id) { webhook { id } } }';
  const rotate = 'mutation ($id: ID!) { webhookRotateSecret(id: $id) { secret } }';
  afterEach(() =>
    graph.database.owner.query('delete from app_public.webhooks where organization_id = $1', [tenant.organizationId]),
  );

  it('while the webhook exists', async () => {
    const { one, two, replayed } = await createTwo();

    expect([one, two]).toEqual(
      [one, two].map(({ secret }) => ({
        ...{ secret: expect.stringMatching(/^whsec_.{32}$/), again: secret, webhook: { id: expect.any(String) } },
      })),
    );
    expect(await replayed()).toEqual([true, true]);
    await run('mutation ($id: ID!) { webhookUpdate(id: $id, enabled: false) { webhook { id } } }', one.webhook.id);
    expect(await replayed()).toEqual([true, true]);
  });

  it('not once it is deleted, and that of the other one still', async () => {
    const { one, two, replayed } = await createTwo();

    await run(remove, one.webhook.id);
    expect(await replayed()).toEqual([false, true]);
    await run(remove, two.webhook.id);
    expect(await replayed()).toEqual([false, false]);
  });

  it('not once it is rotated, and the new one is replayed by its own key', async () => {
    const { two, replayed } = await createTwo();
    const key = randomUUID();
    const options = { query: rotate, variables: { id: two.webhook.id } };

    const rotated = await send(key, options);
    expect(await replayed()).toEqual([true, false]);
    expectReplay(await send(key, options), rotated);

    await run(rotate, two.webhook.id);
    expect(bodyOf(await send(key, options))).toEqual({ data: { webhookRotateSecret: { secret: null } } });
    await run(remove, two.webhook.id);
    expect(bodyOf(await send(key, options))).toEqual({ data: { webhookRotateSecret: { secret: null } } });
  });

  it('not after one hour', async () => {
    const { replayed } = await createTwo();
    const age = (minutes: number) =>
      graph.database.owner.query(
        `update app_hidden.idempotency_keys set expires_at = expires_at - $2 * interval '1 minute' where organization_id = $1`,
        [tenant.organizationId, minutes],
      );

    await age(59);
    expect(await replayed()).toEqual([true, true]);
    await age(1);
    expect(await replayed()).toEqual([false, false]);
  });

  it('not once it is deleted if the offload thread made the answer, and a name that looks like one as it is', async () => {
    const lookalike = `whsec_${'A'.repeat(32)}`;
    const key = randomUUID();
    const query = `mutation { unitCreate(name: "${lookalike}") { unit { name } } one: webhookCreate(url: "https://example.com") {
      secret ${'secret '.repeat(210)} webhook { id } } }`;
    const first = await send(key, { query });
    const { one } = bodyOf(first).data as { one: Made };
    expectReplay(await send(key, { query }), first);

    await run(remove, one.webhook.id);

    expect(bodyOf(await send(key, { query })).data).toEqual({
      unitCreate: { unit: { name: lookalike } },
      one: { secret: null, webhook: one.webhook },
    });
  });
});
