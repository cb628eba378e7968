// Races all pairs of writes of one organization: none deadlocks, and no refusal blames the client for what another has done.
import { randomUUID } from 'node:crypto';
import { applyDocument } from '../../src/provisioning/applyDocument.ts';
import { type Random, randomOf } from '../oracle/random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testPasswords } from '../support/passwords.ts';
import { isWhole, seed, sizeOf } from '../support/search.ts';
import { startTestService, unthrottled } from '../support/service.ts';
import { createTenant, globalId, secrets, type Tenant } from './support.ts';

const rounds = sizeOf({ small: 5, whole: 1000 });

/** Few of each, so that writes meet. */
const [people, units, cards] = ['p', 'u', 'c'].map((kind) => Array.from({ length: 5 }, (_, index) => kind + index)) as [
  string[],
  string[],
  string[],
];
const addressOf = (person: string) => `${person}@acme.test`;
const typeOf = (card: string) => (cards.indexOf(card) % 2 === 0 ? 'NfcCard' : 'IdentificationCode');
const chipOf = (card: string) => `0000000${cards.indexOf(card)}`;

/** Rows with each name at most once, whose values change hands among them. */
function exchanged<Row>(random: Random, names: readonly string[], rowOf: (name: string, other: string) => Row): Row[] {
  const rows = random.some(names, random.between(2, names.length));
  const others = random.some(rows, rows.length);
  return rows.map((name, index) => rowOf(name, others[index] as string));
}

type Variables = Record<string, unknown>;
type Ids = Readonly<Record<string, string>>;
/** A document that is always the same, and variables that are drawn. */
type Write = readonly [document: string, draw: (random: Random, ids: Ids) => Variables];

const outcome = 'results { outcome error { code argument message } }';
const usersSync = `mutation ($users: [UserSyncInput!]!) { usersSync(users: $users) { ${outcome} } }`;
const idOr = (random: Random, ids: Ids, type: string, names: readonly string[]) =>
  ids[random.pick(names)] ?? globalId(type, randomUUID());

const writes: Readonly<Record<string, Write>> = {
  usersSync: [
    usersSync,
    (random) => ({
      users: exchanged(random, people, (externalIdentifier, other) => ({
        ...{ externalIdentifier, fullName: `Name ${random.below(9)}`, email: addressOf(other) },
      })),
    }),
  ],
  'usersSync with units': [
    usersSync,
    (random) => ({
      users: exchanged(random, people, (externalIdentifier, other) => ({
        ...{ externalIdentifier, fullName: `Name ${random.below(9)}`, email: addressOf(other) },
        accessibleUnits: random.some(units, random.below(4)),
      })),
    }),
  ],
  unitsSync: [
    `mutation ($units: [UnitSyncInput!]!) { unitsSync(units: $units) { ${outcome} } }`,
    (random) => ({
      units: exchanged(random, units, (externalIdentifier, other) => ({
        ...{ externalIdentifier, name: `Unit ${random.below(9)}` },
        parentExternalIdentifier: other < externalIdentifier ? other : null,
      })),
    }),
  ],
  cardsSync: [
    `mutation ($cards: [CardSyncInput!]!) { cardsSync(cards: $cards) { ${outcome} } }`,
    (random) => ({
      cards: exchanged(random, cards, (externalIdentifier, other) => ({
        ...{
          externalIdentifier,
          name: `Card ${random.below(9)}`,
          userExternalIdentifier: random.pick([null, ...people]),
        },
        ...(typeOf(externalIdentifier) === 'NfcCard' && {
          nfcIdentifier: chipOf(typeOf(other) === 'NfcCard' ? other : externalIdentifier),
        }),
      })),
    }),
  ],
  usersDelete: [
    'mutation ($names: [String!]!) { usersDelete(externalIdentifiers: $names) { results { outcome } } }',
    (random) => ({ names: random.some(people, random.between(1, 4)) }),
  ],
  userCreate: [
    `mutation ($name: String!, $email: String!, $token: String) {
      userCreate(externalIdentifier: $name, fullName: $name, email: $email, externalAuthenticationToken: $token) { user { id } } }`,
    (random) => ({
      ...{ name: random.pick(people), email: addressOf(random.pick(people)) },
      ...(random.chance(0.5) && { token: `token of ${random.pick(people)} 0123456789` }),
    }),
  ],
  userUpdate: [
    `mutation ($id: ID!, $name: String!, $email: String!) {
      userUpdate(id: $id, externalIdentifier: $name, email: $email) { user { id } } }`,
    (random, ids) => ({
      ...{ id: idOr(random, ids, 'User', people), name: random.pick(people), email: addressOf(random.pick(people)) },
    }),
  ],
  userDelete: [
    'mutation ($id: ID!) { userDelete(id: $id) { user { id } } }',
    (random, ids) => ({ id: idOr(random, ids, 'User', people) }),
  ],
  unitCreate: [
    `mutation ($name: String!, $parent: String) {
      unitCreate(externalIdentifier: $name, name: $name, parentExternalIdentifier: $parent) { unit { id } } }`,
    (random) => ({ name: random.pick(units), parent: random.pick([null, ...units]) }),
  ],
  unitUpdate: [
    `mutation ($id: ID!, $name: String!) { unitUpdate(id: $id, externalIdentifier: $name, name: $name) { unit { id } } }`,
    (random, ids) => ({ id: idOr(random, ids, 'Unit', units), name: random.pick(units) }),
  ],
  'unitUpdate that moves': [
    `mutation ($name: String!, $parent: String) {
      unitUpdate(externalIdentifier: $name, parentExternalIdentifier: $parent) { unit { id } } }`,
    (random) => ({ name: random.pick(units), parent: random.pick([null, ...units]) }),
  ],
  unitDelete: [
    'mutation ($name: String!) { unitDelete(externalIdentifier: $name, withDescendants: true) { unit { id } } }',
    (random) => ({ name: random.pick(units) }),
  ],
  nfcCardCreate: [
    `mutation ($name: String!, $chip: String!) {
      nfcCardCreate(externalIdentifier: $name, name: $name, nfcIdentifier: $chip) { card { id } } }`,
    (random) => {
      const name = random.pick(cards.filter((card) => typeOf(card) === 'NfcCard'));
      return { name, chip: chipOf(name) };
    },
  ],
  identificationCodeCreate: [
    'mutation ($name: String!) { identificationCodeCreate(externalIdentifier: $name, name: $name) { card { id } } }',
    (random) => ({ name: random.pick(cards.filter((card) => typeOf(card) === 'IdentificationCode')) }),
  ],
  cardUpdate: [
    'mutation ($id: ID!, $name: String!) { cardUpdate(id: $id, externalIdentifier: $name) { card { id } } }',
    (random, ids) => {
      const card = random.pick(cards);
      const name = random.pick(cards.filter((other) => typeOf(other) === typeOf(card)));
      return { id: idOr(random, ids, typeOf(card), [card]), name };
    },
  ],
  cardDelete: [
    'mutation ($name: String!) { cardDelete(externalIdentifier: $name) { card { id } } }',
    (random) => ({ name: random.pick(cards) }),
  ],
  cardAssign: [
    `mutation ($card: String!, $person: String!) {
      cardAssign(cardExternalIdentifier: $card, userExternalIdentifier: $person) { cardAssignment { id } } }`,
    (random) => ({ card: random.pick(cards), person: random.pick(people) }),
  ],
  cardUnassign: [
    `mutation ($card: String!, $person: String!) {
      cardUnassign(cardExternalIdentifier: $card, userExternalIdentifier: $person) { cardAssignment { id } } }`,
    (random) => ({ card: random.pick(cards), person: random.pick(people) }),
  ],
  accessGrant: [
    `mutation ($person: String!, $unit: String!, $until: Datetime) {
      accessGrant(userExternalIdentifier: $person, unitExternalIdentifier: $unit, validUntil: $until) { accessGrant { id } } }`,
    (random) => ({
      ...{ person: random.pick(people), unit: random.pick(units), until: random.pick([null, '2999-01-01T00:00:00Z']) },
    }),
  ],
  accessRevoke: [
    `mutation ($person: String!, $unit: String!) {
      accessRevoke(userExternalIdentifier: $person, unitExternalIdentifier: $unit) { accessGrant { id } } }`,
    (random) => ({ person: random.pick(people), unit: random.pick(units) }),
  ],
  'several by an Idempotency-Key': [
    `mutation ($one: String!, $other: String!, $email: String!, $card: String!) {
      userUpdate(externalIdentifier: $one, email: $email) { user { id } }
      cardDelete(externalIdentifier: $card) { card { id } }
      userDelete(externalIdentifier: $other) { user { id } } }`,
    (random) => ({
      ...{ one: random.pick(people), other: random.pick(people), email: addressOf(random.pick(people)) },
      card: random.pick(cards),
    }),
  ],
};

/** A document of `admin apply` for the same organization. */
function documentFor(random: Random, name: string) {
  const withAccess = exchanged(random, people, (externalIdentifier, other) => ({
    ...{ externalIdentifier, fullName: 'Applied', email: addressOf(other), accessibleUnits: random.some(units, 2) },
    cards: [] as object[],
  }));
  for (const card of random.some(cards, 3))
    random.pick(withAccess).cards.push({
      ...{ type: typeOf(card), name: card, externalIdentifier: card },
      ...(typeOf(card) === 'NfcCard' && { nfcIdentifier: chipOf(card) }),
    });
  const below = units.slice(1).map((externalIdentifier) => ({ externalIdentifier, name: 'Applied' }));
  return {
    organizations: [
      { name, units: [{ externalIdentifier: 'u0', name: 'Applied', children: below }], users: withAccess },
    ],
  };
}

/** Each twice, so that a kind meets itself. */
const kinds = [...Object.keys(writes), 'admin apply'].flatMap((kind) => [kind, kind]);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test(`in ${rounds} rounds of all writes at once no two deadlock, and none is refused for what another does (SEED=${seed})`, async () => {
  // Two fifths of the connections are for the writes of one organization.
  const service = await startTestService(database, { ...unthrottled, DATABASE_POOL_SIZE: '30' });
  const counts = new Map<string, number>();
  const begunAt = performance.now();
  try {
    const tenant = await createTenant({ database });
    for (let round = 0; round < rounds; round += 1) {
      const random = randomOf(seed, round);
      const ids = await readIds(tenant);
      const sends = random.some(kinds, kinds.length).map((kind) => prepare(kind, random, ids, service.url, tenant));
      for (const code of (await Promise.all(sends.map((send) => send()))).flat())
        counts.set(code, (counts.get(code) ?? 0) + 1);
    }
  } finally {
    // Sessions count their deadlocks at the latest when they end.
    await service.stop();
  }
  const { rows } = await database.owner.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  const { ok, NOT_FOUND, CONFLICT, UNAVAILABLE = 0, ...others } = Object.fromEntries(counts);
  if (isWhole) {
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    console.log({ rounds, writes: rounds * kinds.length, seconds, ...rows[0], ...Object.fromEntries(counts) });
  }

  expect({ ...rows[0], ...others }).toEqual({ deadlocks: 0 });
  // On a busy machine a write may wait for a lock too long. It may be sent again.
  expect(UNAVAILABLE).toBeLessThan(0.01 * rounds * kinds.length);
}, 3_600_000);

/** The ids of what there is, by external identifier. */
async function readIds({ owner, organizationId }: Tenant): Promise<Ids> {
  const { rows } = await owner.query<{ type: string; id: string; name: string }>(
    `select 'User' as type, id, external_identifier as name from app_public.users where organization_id = $1
     union all select 'Unit', id, external_identifier from app_public.units where organization_id = $1
     union all select type, id, external_identifier from app_public.cards where organization_id = $1`,
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ type, id, name }) => [name, globalId(type, id)]));
}

/** Draws a write. Sending it resolves with `ok`, or the codes of its refusals, of a sync those of its rows. */
function prepare(kind: string, random: Random, ids: Ids, url: string, tenant: Tenant): () => Promise<string[]> {
  const write = writes[kind];
  if (!write) {
    const document = documentFor(random, `Organization ${tenant.organizationId}`);
    return () =>
      applyDocument(tenant.owner, document, { secrets, passwords: testPasswords, report: () => undefined }).then(
        () => ['ok'],
        (error: Error) => [
          /is taken by another|Another user has this/.test(error.message) ? 'CONFLICT' : `apply ${error.message}`,
        ],
      );
  }
  const [query, draw] = write;
  const body = JSON.stringify({ query, variables: draw(random, ids) });
  return async () => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
        ...{ Authorization: `Bearer ${tenant.app}` },
        ...(kind.includes('Key') && { 'Idempotency-Key': `"${randomUUID()}"` }),
      },
      body,
    });
    return codesOf(await response.text());
  };
}

type Refused = { code: string; argument: string | null; message: string };

function codesOf(text: string): string[] {
  const { data, errors = [] } = JSON.parse(text) as {
    data?: Record<string, { results?: { error?: Refused | null }[] } | null>;
    errors?: { message: string; extensions: { code: string; argument?: string } }[];
  };
  const refused = [
    ...errors.map(({ message, extensions }) => ({ message, ...extensions })),
    ...Object.values(data ?? {}).flatMap((field) => (field?.results ?? []).flatMap(({ error }) => error ?? [])),
  ];
  if (refused.length === 0) return ['ok'];
  return refused.map(({ code, argument, message }) =>
    // A move by itself says so, whatever another does.
    message.startsWith('A unit cannot be below itself')
      ? 'CONFLICT'
      : /^(NOT_FOUND|CONFLICT|UNAVAILABLE)$/.test(code)
        ? code
        : `${code} ${argument} ${message}`,
  );
}
