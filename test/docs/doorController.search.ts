// The copy that docs/door-controller.md keeps: after drawn changes, and through outages, it decides as the service does.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { settled } from '../graphql/changes/feed.ts';
import { ask, createTenant, type Tenant } from '../graphql/support.ts';
import { type Random, randomOf } from '../oracle/random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { blocksOf } from './pages.ts';

const changes = Number(process.env.CHANGES || sizeOf({ small: 40, whole: 10_000 }));
const outages = Number(process.env.OUTAGES || sizeOf({ small: 1, whole: 20 }));
/** As many mutations as a document may have. */
const perRequest = 20;
const decisionsOfACheck = 40;

let database: TestDatabase;
let service: TestService;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService(database);
  tenant = await createTenant({ database });
  folder = await mkdtemp(join(tmpdir(), 'door-'));
  const program = (await blocksOf('docs/door-controller.md')).find(({ language }) => language === 'js')?.text ?? '';
  // The page's functions, without what it does with them.
  const functions = program.slice(0, program.indexOf('let position = await readAll();'));
  await writeFile(join(folder, 'door.mjs'), functions + driver);
});
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Does what each line says: reads all, follows to the end, decides, or shows the copy. */
const driver = `
const lines = (await import('node:readline')).createInterface({ input: process.stdin });
let position;
const commands = {
  async read() { position = await readAll(); },
  // A page has 200 changes; no hundred mutations make more than ten have.
  async follow() { for (let page = 0; page < 10; page++) position = await follow(position); },
  decide: (asked) => asked.map(([badge, unit, at]) => mayEnter(badge, unit, Date.parse(at))),
  show: () => Object.fromEntries(Object.entries(copy).map(([list, rows]) => [list, [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1))])),
};
for await (const line of lines) {
  const { command, argument, url } = JSON.parse(line);
  process.env.BASE_URL = url;
  const answer = await Promise.resolve().then(() => commands[command](argument)).then((done) => ({ done: done ?? null }), (error) => ({ error: error.message }));
  console.log(JSON.stringify(answer));
}`;

/** A controller with a copy of its own, in a process of its own. */
function startDoor() {
  const environment = { BASE_URL: service.url, TOKEN: tenant.app };
  const child = spawn(process.execPath, [join(folder, 'door.mjs')], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = async (command: string, argument?: unknown): Promise<{ done?: unknown; error?: string }> => {
    child.stdin.write(`${JSON.stringify({ command, argument, url: service.url })}\n`);
    return JSON.parse((await answers.next()).value ?? '{}');
  };
  return {
    send,
    async do(command: string, argument?: unknown): Promise<unknown> {
      const { done, error } = await send(command, argument);
      expect([command, error]).toEqual([command, undefined]);
      return done;
    },
    stop: () => child.stdin.end(),
  };
}

type Asked = readonly [badge: string, unit: string, at: string];

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, number) => `${prefix}-${number}`);
const [users, units, cards] = [names('u', 6), names('n', 8), names('c', 8)];
const chipOf = (card: string) => `04A224B${card.slice(2)}`;
const instants = ['2020-02-29T12:00:00.001Z', '2031-06-30T00:00:00.000Z', '2040-01-01T00:00:00.000Z'];
const sources = ['hr', 'visitors'];

/** At a beginning or an end of a grant, a millisecond before or after it. */
const drawAsked = (random: Random): Asked => {
  const at = new Date(Date.parse(random.pick(instants)) + random.between(-1, 1)).toISOString();
  return [
    random.chance(0.5) ? chipOf(random.pick(cards)) : chipOf(random.pick(cards)).toLowerCase(),
    random.pick(units),
    at,
  ];
};

function drawMutation(random: Random): string {
  const [user, unit, card] = [random.pick(users), random.pick(units), random.pick(cards)];
  const source = random.chance(0.5) ? `, source: "${random.pick(sources)}"` : '';
  const [from, until] = random.some(instants, 2).sort();
  const times = `${random.chance(0.5) ? `, validFrom: "${from}"` : ''}${random.chance(0.5) ? `, validUntil: "${until}"` : ''}`;
  const pair = `userExternalIdentifier: "${user}", unitExternalIdentifier: "${unit}"${source}`;
  const held = `cardExternalIdentifier: "${card}", userExternalIdentifier: "${user}"`;
  return random.weighted({
    [`accessGrant(${pair}${times}) { accessGrant { id } }`]: 6,
    [`accessRevoke(${pair}) { accessGrant { id } }`]: 3,
    [`cardAssign(${held}) { cardAssignment { id } }`]: 4,
    [`cardUnassign(${held}) { cardAssignment { id } }`]: 1,
    [`nfcCardCreate(name: "Badge", nfcIdentifier: "${chipOf(card)}", externalIdentifier: "${card}") { card { id } }`]: 2,
    [`cardDelete(externalIdentifier: "${card}") { card { id } }`]: 0.5,
    [`userCreate(fullName: "Person", email: "${user}@door.test", externalIdentifier: "${user}") { user { id } }`]: 2,
    [`userDelete(externalIdentifier: "${user}") { user { id } }`]: 0.5,
    [`unitCreate(name: "Unit", externalIdentifier: "${unit}"${random.chance(0.7) ? `, parentExternalIdentifier: "${random.pick(units)}"` : ''}) { unit { id } }`]: 3,
    [`unitUpdate(externalIdentifier: "${unit}", parentExternalIdentifier: "${random.pick(units)}") { unit { id } }`]: 1,
    [`unitDelete(externalIdentifier: "${unit}", withDescendants: true) { unit { id } }`]: 0.3,
  });
}

/** Sends mutations, of which some find nothing to change. @returns how many have changed something */
async function change(random: Random, count: number): Promise<number> {
  let done = 0;
  for (let sent = 0; sent < count; sent += perRequest) {
    const fields = Array.from({ length: perRequest }, (_, nth) => `m${nth}: ${drawMutation(random)}`);
    const { body } = await ask(service, tenant.app, `mutation { ${fields.join(' ')} }`);
    const { data, errors = [] } = body as {
      data: Record<string, unknown>;
      errors?: { extensions: { code: string } }[];
    };
    const unexpected = errors.filter(
      ({ extensions }) => !/^(CONFLICT|NOT_FOUND|BAD_USER_INPUT)$/.test(extensions.code),
    );
    expect(unexpected).toEqual([]);
    done += Object.values(data).filter((payload) => payload !== null).length;
  }
  return done;
}

/** Changes the database while the service is down. */
const changeUnheard = (random: Random) =>
  database.owner.query(
    `with moved as (
       update app_hidden.unit_access set valid_until = case when random() < 0.5 then $2::timestamptz end, valid_from = null
       where organization_id = $1 and get_byte(uuid_send(id), 15) % 3 = $3),
     taken as (delete from app_public.card_assignments where organization_id = $1 and get_byte(uuid_send(id), 15) % 4 = $3)
     delete from app_hidden.unit_access where organization_id = $1 and get_byte(uuid_send(id), 15) % 3 = ($3 + 1) % 3`,
    [tenant.organizationId, random.pick(instants), random.below(3)],
  );

async function decisionsOf(asked: readonly Asked[]): Promise<boolean[]> {
  const fields = asked.map(
    ([badge, unit, at], nth) =>
      `d${nth}: accessDecision(unitExternalIdentifier: "${unit}", credential: { nfcIdentifier: "${badge}" }, at: "${at}") { isAllowed }`,
  );
  const { body } = await ask(service, tenant.app, `{ app { ${fields.join(' ')} } }`);
  const { app } = body.data as { app: Record<string, { isAllowed: boolean }> };
  return asked.map((_, nth) => app[`d${nth}`]?.isAllowed ?? false);
}

test(`a copy decides as the service after ${changes} drawn changes and ${outages} outages (SEED=${seed})`, async () => {
  const random = randomOf(seed, 'door');
  const door = startDoor();
  await door.do('read');
  let [made, allowed, lost] = [0, 0, 0];

  /** Follows, and compares the decisions, and the whole copy with a new one. @returns what was asked and decided */
  const catchUp = async () => {
    await settled(tenant);
    await door.do('follow');
    const asked = Array.from({ length: decisionsOfACheck }, () => drawAsked(random));
    const decided = await decisionsOf(asked);
    expect([asked, await door.do('decide', asked)]).toEqual([asked, decided]);
    allowed += decided.filter(Boolean).length;
    return { asked, decided };
  };
  for (let outage = 0; outage < outages; outage++) {
    for (const end = (changes * (outage + 1)) / outages; made < end; ) {
      made += await change(random, 5 * perRequest);
      await catchUp();
    }

    const { asked, decided } = await catchUp();
    await service.stop();
    await changeUnheard(random);
    // It goes on deciding by what it knows.
    expect(await door.send('follow')).toEqual({ error: expect.any(String) });
    expect(await door.do('decide', asked)).toEqual(decided);
    service = await startTestService(database);
    const now = await decisionsOf(asked);
    lost += now.filter((isAllowed, nth) => isAllowed !== decided[nth]).length;
    await catchUp();
    const fresh = startDoor();
    await fresh.do('read');
    expect(await door.do('show')).toEqual(await fresh.do('show'));
    fresh.stop();
  }
  door.stop();
  // Doors were open, and the changes of the outages made a difference, which those of one may not: its rows have ids of chance.
  expect([made >= changes, allowed > 0, lost > 0 || outages < 5]).toEqual([true, true, true]);
}, 3_600_000);
