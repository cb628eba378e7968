// Decisions about drawn doors, at drawn times around the beginnings and ends of grants, against predicates over the rows: those of
// `accessDecision`, and the same by AuthZEN.
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { isWhole, sizeOf } from '../support/search.ts';
import { type Sight, sightOf } from './access.ts';
import { type Credential, type DecisionArguments, decisionOf } from './decision.ts';
import { drawCredential } from './documents/decisions.ts';
import { drawExternalIdentifier, type Known, knownOf } from './documents/known.ts';
import { answered, drawBatch, reasonOf, toEvaluation, withUnknown } from './evaluation.ts';
import { cardOf, encodeId, idOf } from './ids.ts';
import { faultsOfDecisions } from './plantedDecisionFaults.ts';
import { plantFault } from './plantFault.ts';
import { type Random, randomOf } from './random.ts';
import { readRows, type Unit } from './rows.ts';
import { type Service, startService } from './service.ts';
import { type Signed, signIn } from './world/callers.ts';
import { drawWorld, type World } from './world/drawWorld.ts';
import { type Provisioned, provision } from './world/provision.ts';
import { insertRows, rowsOf } from './world/store.ts';

const seed = Number(process.env.SEED || Math.floor(Math.random() * 2 ** 31));
const decisions = Number(process.env.DECISIONS || sizeOf({ small: 300, whole: 5000 }));
const perWorld = isWhole ? 500 : 150;
/** As many as aliases stay well below the limit. */
const perRequest = 10;

/** Grants begin and end at these alone, so that drawn times meet them. */
const instants = Array.from({ length: 5 }, (_, year) => `${2018 + 4 * year}-06-30T12:00:00.000001+00:00`);

describe(`decisions and predicates over the rows (SEED=${seed})`, () => {
  let database: TestDatabase;
  let service: Service;
  let worlds: World[];
  let provisioned: Provisioned;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startService(database.authUrl);
    worlds = Array.from({ length: Math.ceil(decisions / perWorld) }, (_, index) =>
      withTimes(drawWorld(seed, index), index),
    );
    for (const { rows } of worlds) await insertRows(database.owner, rows);
    provisioned = await provision(database.ownerUrl, worlds);
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it(`decide ${decisions} times as these do`, async () => {
    process.stdout.write(`${decisions} decisions are drawn with SEED=${seed}\n`);
    const reasons = await judge();
    process.stdout.write(`${JSON.stringify(Object.fromEntries(reasons))}\n`);
    if (decisions >= 1000) expect([...reasons.keys()].sort()).toEqual(allReasons);
    expect(service.failures()).toEqual([]);
  }, 3_600_000);

  // The judge is no proof until it finds what is wrong.
  if (isWhole)
    it.each(faultsOfDecisions.map((fault) => [fault.name, fault] as const))(
      '%s: is found',
      async (_, fault) => {
        const undo = await plantFault(fault, '', database.owner);
        try {
          await expect(judge()).rejects.toThrow('toEqual');
        } finally {
          await undo();
        }
      },
      600_000,
    );

  /** @returns how often each reason was expected */
  async function judge(): Promise<Map<string, number>> {
    const all = await readRows(database.owner);
    const reasons = new Map<string, number>();
    for (const [index, world] of worlds.entries()) {
      const rows = rowsOf(all, { ...world, deleted: new Set() });
      for (const signed of (await signIn(service, world, provisioned)).filter(({ caller }) => caller.kind === 'app')) {
        const sight = sightOf(rows, signed.caller);
        const known = knownOf(rows, [], signed.caller);
        for (let nth = 0; nth < perWorld / 2; nth += perRequest) {
          const random = randomOf(seed, 'decisions', index, signed.name, nth);
          const asked = Array.from({ length: perRequest }, () => drawQuestion(random, sight, known));
          const expected = asked.map((one) => flat(decisionOf(sight, one)));
          expect({ asked, decisions: await decide(signed, asked) }).toEqual({ asked, decisions: expected });
          await evaluate(signed, sight, random, asked);
          for (const { reason } of expected) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        }
      }
    }
    return reasons;
  }

  async function decide({ token }: Signed, asked: readonly DecisionArguments[]) {
    const declared = asked.map((_, n) => `$u${n}: ID, $e${n}: String, $c${n}: CredentialInput!, $t${n}: Datetime`);
    const fields = asked.map(
      (_, n) =>
        `d${n}: accessDecision(unitId: $u${n}, unitExternalIdentifier: $e${n}, credential: $c${n}, at: $t${n}) { ...D }`,
    );
    const query = `query(${declared.join(', ')}) { app { ${fields.join(' ')} } }
      fragment D on AccessDecision { isAllowed reason user { id } unit { id } card { id name } accessGrant { id } }`;
    const variables = Object.fromEntries(
      asked.flatMap(({ unitId, unitExternalIdentifier, credential, at }, n) => [
        [`u${n}`, unitId],
        [`e${n}`, unitExternalIdentifier],
        [`c${n}`, credential],
        [`t${n}`, at],
      ]),
    );
    const { data, errors } = await service.ask(token, query, variables);
    expect(errors).toEqual([]);
    const { app } = data as { app: Record<string, Answered> };
    return asked.map((_, n) => {
      const { isAllowed, reason, user, unit, card, accessGrant } = app[`d${n}`] as Answered;
      const ids = [user, unit, card, accessGrant].map((row) => row?.id ?? null);
      return { isAllowed, reason, ids, name: card?.name ?? null };
    });
  }

  /** Asks the same by AuthZEN: all at once, and one of them alone. */
  async function evaluate({ token }: Signed, sight: Sight, random: Random, asked: readonly DecisionArguments[]) {
    const evaluations = asked.map((one) => withUnknown(random, toEvaluation(sight, one)));
    const reasons = evaluations.map((one) => reasonOf(sight, one));
    const batch = drawBatch(random, evaluations);
    const single = random.below(evaluations.length);
    const post = async (path: string, body: object) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      return JSON.parse((await service.post(`/access/v1/${path}`, JSON.stringify(body), headers)).text);
    };
    const decided = (reason: string | undefined) => ({ decision: reason === 'GRANTED', context: { reason } });

    expect([batch, await post('evaluations', batch)]).toEqual([
      batch,
      { evaluations: answered(batch, reasons).map(decided) },
    ]);
    const one = evaluations[single] as object;
    expect([one, await post('evaluation', one)]).toEqual([one, decided(reasons[single])]);
  }
});

type Answered = { isAllowed: boolean; reason: string } & Record<
  'user' | 'unit' | 'accessGrant',
  { id: string } | null
> & {
    card: { id: string; name: string } | null;
  };

const allReasons = [
  ...['CARD_UNASSIGNED', 'CARD_UNKNOWN', 'EXPIRED', 'GRANTED'],
  ...['NOT_YET_VALID', 'NO_GRANT', 'UNIT_UNKNOWN', 'USER_UNKNOWN'],
];

const flat = ({ isAllowed, reason, user, unit, card, accessGrant }: ReturnType<typeof decisionOf>) => ({
  isAllowed,
  reason,
  ids: [user, unit, card, accessGrant].map((entity) => entity && idOf(entity)),
  name: card?.row.name ?? null,
});

/** Grants that begin and end at the instants, and more of them, so that several meet. */
function withTimes(world: World, index: number): World {
  const random = randomOf(seed, 'times', index);
  const accessGrants = world.rows.accessGrants.map((grant) => {
    const [validFrom, validUntil] = random.some(instants, 2).sort() as [string, string];
    return {
      ...grant,
      validFrom: random.chance(0.4) ? null : validFrom,
      validUntil: random.chance(0.4) ? null : validUntil,
    };
  });
  const { users, units, cards } = world.rows;
  const rows = {
    ...world.rows,
    users: withIdsAsNames(random, users, ({ id }) => encodeId('User', id)),
    units: withIdsAsNames(random, units, ({ id }) => encodeId('Unit', id)),
    cards: withIdsAsNames(random, cards, (card) => idOf(cardOf(card))),
    accessGrants,
  };
  return { ...world, rows };
}

/** Rows of which some have the id of another as external identifier, which AuthZEN then prefers. */
function withIdsAsNames<Row extends { organizationId: string; externalIdentifier: string | null }>(
  random: Random,
  rows: readonly Row[],
  id: (row: Row) => string,
): Row[] {
  const taken = new Set<string>();
  return rows.map((row) => {
    const others = rows.filter((other) => other !== row && other.organizationId === row.organizationId);
    const name = row.externalIdentifier === null && random.chance(0.3) ? random.pickOr(others, null) : null;
    if (!name || taken.has(id(name))) return row;
    taken.add(id(name));
    return { ...row, externalIdentifier: id(name) };
  });
}

/** Mostly about somebody who has a grant on the unit or above it, else about anything of either organization. */
function drawQuestion(random: Random, sight: Sight, known: Known): DecisionArguments {
  const at = random.chance(0.2) ? {} : { at: drawMoment(random) };
  const grant = random.chance(0.7) ? random.pickOr(sight.accessGrants, null) : null;
  if (!grant) {
    const unit = random.pickOr(known.ids.get('Unit') ?? [], encodeId('Unit', nobody));
    const credential = drawCredential(random, known).json as Credential;
    return random.chance(0.7)
      ? { unitId: unit, credential, ...at }
      : { unitExternalIdentifier: drawExternalIdentifier(random, known), credential, ...at };
  }
  const isBelow = (unit: Unit | undefined): boolean =>
    unit !== undefined && (unit.id === grant.unitId || isBelow(sight.units.find(({ id }) => id === unit.parentId)));
  const { id, externalIdentifier } = random.pick(sight.units.filter(isBelow));
  const unit =
    externalIdentifier && random.chance(0.5)
      ? { unitExternalIdentifier: externalIdentifier }
      : { unitId: encodeId('Unit', id) };
  return { ...unit, credential: credentialOf(random, sight, grant.userId), ...at };
}

/** What this person may show: a card of theirs, or who they are. */
function credentialOf(random: Random, { users, cards, cardAssignments }: Sight, userId: string): Credential {
  const held = cardAssignments.filter((one) => one.userId === userId).map(({ cardId }) => cardId);
  const card = random.chance(0.7)
    ? random.pickOr(
        cards.filter((one) => held.includes(one.id)),
        null,
      )
    : null;
  if (!card) {
    const name = users.find((one) => one.id === userId)?.externalIdentifier;
    return name && random.chance(0.5) ? { userExternalIdentifier: name } : { userId: encodeId('User', userId) };
  }
  const { nfcIdentifier, proximityUuid, major, minor } = card;
  if (nfcIdentifier && random.chance(0.7)) return { nfcIdentifier: nfcIdentifier.toLowerCase() };
  if (proximityUuid && random.chance(0.7))
    return { beacon: { proximityUuid, major: Number(major), minor: Number(minor) } };
  return { cardId: idOf(cardOf(card)) };
}

/** An instant, a microsecond before or after it. */
const drawMoment = (random: Random): string =>
  random.pick(instants).replace('000001', random.pick(['000000', '000001', '000002']));

const nobody = '01000000-0000-7000-8000-000000000000';
