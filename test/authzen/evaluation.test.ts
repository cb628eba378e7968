import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { StatementUse } from '../../src/token/transaction.ts';
import { type Mutate, mutating, unknownId } from '../graphql/mutating.ts';
import {
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  issueToken,
  type Tenant,
  type TestUnit,
  type TestUser,
} from '../graphql/support.ts';
import { shareService } from '../support/sharedService.ts';
import { decide, evaluate, question } from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
let room: TestUnit;
let badge: string;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
  ada = await createViewer(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  const house = await createUnit(tenant, { name: 'House', externalIdentifier: 'house' });
  room = await createUnit(tenant, { name: 'Room', parent: house, externalIdentifier: 'room' });
  await createUnit(tenant, { name: 'Yard', externalIdentifier: 'yard' });
  const created = { name: 'Badge', nfcIdentifier: '04A224B2', externalIdentifier: 'badge' };
  badge = ((await mutate('nfcCardCreate', created, 'card { id }')) as { card: { id: string } }).card.id;
  await mutate('cardAssign', { cardId: badge, userId: ada.id }, 'cardAssignment { id }');
  await mutate('accessGrant', { userId: ada.id, unitExternalIdentifier: 'house' }, 'accessGrant { id }');
});

const single = (body: unknown) => decide(graph, tenant, 'evaluation', body);
const several = (body: unknown) => decide(graph, tenant, 'evaluations', body);

test('a user or a card may enter, named by the external identifier or the id', async () => {
  for (const subject of [
    ['user', 'ada'],
    ['user', ada.id],
    ['card', 'badge'],
    ['card', badge],
  ] as const) {
    for (const unit of ['room', room.id, 'house'])
      expect([subject, unit, await single(question(subject, unit))]).toEqual([subject, unit, 'GRANTED']);
    expect(await single(question(subject, 'yard'))).toBe('NO_GRANT');
  }
});

test('the reason is that of accessDecision', async () => {
  await createUser(tenant, { externalIdentifier: 'bob' });
  await mutate(
    'nfcCardCreate',
    { name: 'Spare', nfcIdentifier: '04A224B3', externalIdentifier: 'spare' },
    'card { id }',
  );
  const reasons = [
    [question(['user', 'bob'], 'room'), 'NO_GRANT'],
    [question(['user', 'nobody'], 'room'), 'USER_UNKNOWN'],
    [question(['user', unknownId('User')], 'room'), 'USER_UNKNOWN'],
    [question(['user', ada.uuid], 'room'), 'USER_UNKNOWN'],
    [question(['user', badge], 'room'), 'USER_UNKNOWN'],
    [question(['user', ''], 'room'), 'USER_UNKNOWN'],
    [question(['card', 'none'], 'room'), 'CARD_UNKNOWN'],
    [question(['card', ada.id], 'room'), 'CARD_UNKNOWN'],
    [question(['card', '04A224B2'], 'room'), 'CARD_UNKNOWN'],
    [question(['card', 'spare'], 'room'), 'CARD_UNASSIGNED'],
    [question(['card', 'badge'], 'nowhere'), 'UNIT_UNKNOWN'],
    [question(['card', 'badge'], ada.id), 'UNIT_UNKNOWN'],
    [question(['user', 'ada'], 'x'.repeat(100_000)), 'UNIT_UNKNOWN'],
  ] as const;
  for (const [body, reason] of reasons) expect([body, await single(body)]).toEqual([body, reason]);
});

test('an external identifier comes before an id', async () => {
  const bob = await createUser(tenant, { externalIdentifier: ada.id });
  expect(await single(question(['user', ada.id], 'room'))).toBe('NO_GRANT');
  await createUnit(tenant, { externalIdentifier: room.id });
  expect(await single(question(['user', 'ada'], room.id))).toBe('NO_GRANT');
  await mutate('identificationCodeCreate', { name: 'PIN', externalIdentifier: badge }, 'card { id }');
  expect(await single(question(['card', badge], 'room'))).toBe('CARD_UNASSIGNED');

  await mutate('userDelete', { id: bob.id }, 'user { id }');
  expect(await single(question(['user', ada.id], 'room'))).toBe('GRANTED');
});

test('what the service does not know is denied', async () => {
  const known = question(['user', 'ada'], 'room');
  const unknown = [
    { ...known, action: { name: 'leave' } },
    { ...known, action: { name: 'Enter' } },
    { ...known, subject: { type: 'robot', id: 'ada' } },
    { ...known, subject: { type: '__proto__', id: 'ada' } },
    { ...known, resource: { type: 'user', id: 'ada' } },
    { ...known, resource: { type: 'unit ', id: 'room' } },
  ];
  for (const body of unknown) expect([body, await single(body)]).toEqual([body, 'UNSUPPORTED']);
  expect(await several({ evaluations: [unknown[0], known, unknown[2]] })).toEqual([
    ...['UNSUPPORTED', 'GRANTED', 'UNSUPPORTED'],
  ]);
});

test('context.time judges the grants at another time', async () => {
  await mutate(
    'accessGrant',
    {
      userId: ada.id,
      unitExternalIdentifier: 'yard',
      validFrom: '2030-01-01T00:00:00Z',
      validUntil: '2030-02-01T00:00:00Z',
    },
    'accessGrant { id }',
  );
  const at = (time: string) => single(question(['card', 'badge'], 'yard', { context: { time } }));

  expect(await single(question(['card', 'badge'], 'yard', { context: {} }))).toBe('NOT_YET_VALID');
  expect(await at('2029-12-31T23:59:59.999999999Z')).toBe('NOT_YET_VALID');
  expect(await at('2030-01-01T00:00Z')).toBe('GRANTED');
  expect(await at('2029-12-31T16:00-08:00')).toBe('GRANTED');
  expect(await at('2030-01-31T23:59:60Z')).toBe('EXPIRED');
  expect(await at('0000-01-01T00:00:00+23:59')).toBe('NOT_YET_VALID');
  expect(await at('9999-12-31T23:59:59-23:59')).toBe('EXPIRED');
});

describe('several evaluations', () => {
  const units = (...names: string[]) => names.map((id) => ({ resource: { type: 'unit', id } }));
  const top = { subject: { type: 'user', id: 'ada' }, action: { name: 'enter' } };
  const options = (evaluations_semantic: string) => ({ options: { evaluations_semantic, other: 1 } });

  test('take their missing parts from the top, each as a whole', async () => {
    const evaluations = [
      ...units('room'),
      { ...units('yard')[0], subject: { type: 'card', id: 'badge' } },
      { ...units('house')[0], action: { name: 'leave' } },
      { subject: { type: 'user', id: 'nobody' }, ...units('room')[0] },
    ];
    expect(await several({ ...top, evaluations })).toEqual(['GRANTED', 'NO_GRANT', 'UNSUPPORTED', 'USER_UNKNOWN']);
    expect(await several({ ...question(['user', 'ada'], 'yard'), evaluations: [{}, ...units('room')] })).toEqual([
      ...['NO_GRANT', 'GRANTED'],
    ]);
    const late = { context: { time: '1999-01-01T00:00:00Z' } };
    await mutate(
      'accessGrant',
      { userId: ada.id, unitExternalIdentifier: 'house', validFrom: '2000-01-01T00:00:00Z' },
      'accessGrant { id }',
    );
    expect(
      await several({ ...top, ...late, evaluations: [...units('room'), { ...units('room')[0], context: {} }] }),
    ).toEqual([...['NOT_YET_VALID', 'GRANTED']]);
  });

  test('end where options.evaluations_semantic says', async () => {
    const ask = (semantic: string, ...names: string[]) =>
      several({ ...top, ...options(semantic), evaluations: units(...names) });

    expect(await ask('execute_all', 'room', 'yard', 'house')).toEqual(['GRANTED', 'NO_GRANT', 'GRANTED']);
    expect(await ask('deny_on_first_deny', 'room', 'yard', 'house')).toEqual(['GRANTED', 'NO_GRANT']);
    expect(await ask('deny_on_first_deny', 'room', 'house')).toEqual(['GRANTED', 'GRANTED']);
    expect(await ask('permit_on_first_permit', 'yard', 'room', 'yard')).toEqual(['NO_GRANT', 'GRANTED']);
    expect(await ask('permit_on_first_permit', 'yard', 'yard')).toEqual(['NO_GRANT', 'NO_GRANT']);
  });

  test('absent or empty, they are a single one', async () => {
    const body = question(['user', 'ada'], 'room');

    expect(await several(body)).toBe('GRANTED');
    expect(await several({ ...body, evaluations: [] })).toBe('GRANTED');
    expect(await single({ ...body, evaluations: units('yard') })).toBe('GRANTED');
    expect((await evaluate(graph, tenant.app, 'evaluations', { evaluations: [] })).status).toBe(400);
  });

  test('are a hundred at most, decided by one statement', async () => {
    const body = (count: number) => ({ ...top, evaluations: Array.from({ length: count }, () => units('room')[0]) });
    const texts: string[] = [];
    const listener = (use: unknown) => void texts.push((use as StatementUse).text);
    await several(body(1));
    subscribe('statement:sent', listener);

    expect(await several(body(100))).toEqual(Array(100).fill('GRANTED'));

    unsubscribe('statement:sent', listener);
    const own = texts.filter((text) => !/access_token|note_uses/.test(text));
    expect(own).toEqual([expect.stringContaining('app_hidden.decide_access')]);
    const refused = await evaluate(graph, tenant.app, 'evaluations', body(101));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('more than 100')]);
  });
});

test('another organization’s user, card, unit and grant do not exist', async () => {
  const other = await createTenant(graph);
  expect(await single(question(['card', 'badge'], 'room'))).toBe('GRANTED');
  const asked = [
    question(['user', 'ada'], 'room'),
    question(['user', ada.id], room.id),
    question(['card', badge], room.id),
    question(['card', 'badge'], 'nowhere'),
  ];
  const theirs = await createUnit(other, { externalIdentifier: 'theirs' });

  expect(await decide(graph, other, 'evaluations', { evaluations: asked })).toEqual(Array(4).fill('UNIT_UNKNOWN'));
  const unit = { resource: { type: 'unit', id: theirs.id } };
  const ofTheirs = { evaluations: asked.map((one) => ({ ...one, ...unit })) };
  expect(await decide(graph, other, 'evaluations', ofTheirs)).toEqual([
    ...['USER_UNKNOWN', 'USER_UNKNOWN', 'CARD_UNKNOWN', 'CARD_UNKNOWN'],
  ]);
  expect(await several({ evaluations: asked.map((one) => ({ ...one, ...unit })) })).toEqual(
    Array(4).fill('UNIT_UNKNOWN'),
  );
});

test('a token that has ended is 401 with the next request, whatever the body', async () => {
  const token = tenant.app;
  const body = question(['user', 'ada'], 'room');
  expect((await evaluate(graph, token, 'evaluation', body)).status).toBe(200);
  expect((await evaluate(graph, token, 'evaluation', {})).status).toBe(400);
  await tenant.owner.query('update oauth.applications set disabled_at = now() where id = $1', [tenant.applicationId]);

  for (const sent of [body, {}, 'no JSON', { ...body, action: { name: 'leave' } }]) {
    const { status, headers, text } = await evaluate(graph, token, 'evaluation', sent);
    expect([status, text]).toEqual([401, 'The access token is unknown, expired or revoked.']);
    expect(headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
  }
});

test('an organization that is being moved is 503', async () => {
  expect(await single(question(['user', 'ada'], 'room'))).toBe('GRANTED');
  await tenant.owner.query(
    `insert into app_hidden.organization_moves (organization_id, move_id, state, peer)
     values ($1, gen_random_uuid(), 'moved', 'another')`,
    [tenant.organizationId],
  );

  for (const token of [tenant.app, await issueToken(tenant, ['app', 'basic'])]) {
    const { status, headers, text } = await evaluate(graph, token, 'evaluation', question(['user', 'ada'], 'room'));
    expect([status, headers.get('Retry-After'), text]).toEqual([503, '2', expect.stringContaining('being moved')]);
  }
});
