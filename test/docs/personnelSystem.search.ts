// The program of docs/personnel-system.md: what the page shows of it, and drawn lists of thousands of people, which the database has then.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { type Random, randomOf } from '../oracle/random.ts';
import { commandPath } from '../support/commandPath.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';
import { seed, sizeOf } from '../support/search.ts';
import { type Block, blocksOf } from './pages.ts';
import { runPage, shows } from './runPage.ts';

let demo: Demo;
let owner: Pool;
let folder: string;
let blocks: Block[];
beforeAll(async () => {
  demo = await startTestDemo();
  const { ownerUrl } = (await findEmbeddedPostgres(demo.dataDir, createLog('error'))) ?? {};
  owner = new Pool({ connectionString: ownerUrl, max: 1 });
  folder = await mkdtemp(join(tmpdir(), 'people-'));
  blocks = await blocksOf('docs/personnel-system.md');
  await writeFile(join(folder, 'sync-people.mjs'), textOf('js'));
});
afterAll(async () => {
  await owner.end();
  await demo.stop();
  await rm(folder, { recursive: true });
});

const textOf = (language: string, at = 0): string => {
  const { text } = blocks.filter((block) => block.language === language)[at] ?? {};
  if (text === undefined) throw new Error(`The page has no block ${at} of ${language}`);
  return text;
};

test('the page shows what its program prints', async () => {
  await writeFile(join(folder, 'monday.json'), textOf('json'));
  await writeFile(join(folder, 'tuesday.json'), textOf('json', 1));
  const block = blocks.find(({ language }) => language === 'sh') as Block;
  const text = `exec 2>&1\n${block.text.replaceAll(/[\w-]+\.(?:mjs|json)/g, (file) => join(folder, file))}`;

  const [printed] = await runPage([{ ...block, text }], demo, { PATH: commandPath, HOME: process.env.HOME ?? '' });

  const { output = '' } = printed ?? {};
  expect({ output, isShown: shows(textOf('text'), output) }).toEqual({ output, isShown: true });
});

type Person = { number: string; name: string; email: string; badge: string | null; units: string[] };
type Run = { code: number | null; summary: Record<string, unknown> | null; refused: string[]; errors: string };

/** Runs the program with a list. */
async function sync(people: readonly Person[], ...options: string[]): Promise<Run> {
  const file = join(folder, 'list.json');
  await writeFile(file, JSON.stringify(people));
  const environment = { BASE_URL: demo.url, TOKEN: await getDemoToken(demo) };
  const child = spawn(process.execPath, [join(folder, 'sync-people.mjs'), file, ...options], { env: environment });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const refused = Array.from(errors.matchAll(/^(\S+: [A-Z_]+ \w+): /gm), ([, row = '']) => row).sort();
  return { code, summary: output ? JSON.parse(output) : null, refused, errors };
}

/** What the database has of the people of the list, as a list. */
async function storedPeople(): Promise<Person[]> {
  const { rows } = await owner.query<Person>(`
    select u.external_identifier as number, u.full_name as name, u.email,
      (select c.nfc_identifier from app_public.card_assignments a join app_public.cards c on (c.organization_id, c.id) = (a.organization_id, a.card_id)
       where (a.organization_id, a.user_id) = (u.organization_id, u.id)) as badge,
      array(select n.external_identifier from app_hidden.unit_access a join app_public.units n on (n.organization_id, n.id) = (a.organization_id, a.unit_id)
       where (a.organization_id, a.user_id) = (u.organization_id, u.id) and a.source = 'hr' order by 1) as units
    from app_public.users u where u.external_identifier like 'P-%'`);
  return rows.sort(byNumber);
}

const byNumber = (one: Person, other: Person) => Number(one.number.slice(2)) - Number(other.number.slice(2));
const units = ['campus', 'depot', 'depot-yard', 'north', 'north-1', 'south'];
const badgeOf = (number: number) => `04${number.toString(16).toUpperCase().padStart(6, '0')}`;

function drawPerson(random: Random, number: number): Person {
  const badge = random.chance(0.8) ? badgeOf(number) : null;
  const name = `Person ${number}`;
  return { number: `P-${number}`, name, email: `p${number}@people.test`, badge, units: random.some(units, 2).sort() };
}

/** The next list, what becomes of it in the database, and the rows that are refused. */
function drawNext(random: Random, people: readonly Person[]) {
  const shuffled = random.some(people, people.length);
  const take = (share: number) => shuffled.splice(0, Math.ceil(share * people.length));
  const leaving = new Set(take(0.03));
  // Those who exchange are far apart in the list, and so in different requests.
  const exchange = (field: 'email' | 'badge') => {
    const some = take(0.04).sort(byNumber);
    const partners = [...some.slice(some.length / 2), ...some.slice(0, some.length / 2)];
    return some.map((person, at) => ({ ...person, [field]: partners[at]?.[field] ?? null }));
  };
  const changed = [
    ...exchange('email'),
    ...exchange('badge'),
    ...take(0.03).map((person) => ({ ...person, badge: null })),
    ...take(0.03).map((person) => ({ ...person, units: random.some(units, 3).sort(), name: `${person.name} II` })),
  ] as Person[];
  const wrong = shuffled.splice(0, 3);
  const mistakes: [Person, Partial<Person>, string][] = [
    [wrong[0] as Person, { email: 'ada@demo.test', name: 'Renamed' }, 'CONFLICT email'],
    [wrong[1] as Person, { email: 'no address', name: 'Renamed' }, 'BAD_USER_INPUT email'],
    [wrong[2] as Person, { units: ['nowhere'], name: 'Renamed' }, 'NOT_FOUND accessibleUnits'],
  ];
  let number = 1 + Math.max(...people.map((person) => Number(person.number.slice(2))));
  const joining = [...leaving].flatMap(({ email, badge }) => [
    { ...drawPerson(random, number++), email, badge },
    drawPerson(random, number++),
  ]);
  const hopeless = { ...drawPerson(random, number), email: 'no address', badge: badgeOf(number) };

  const next = new Map(people.filter((person) => !leaving.has(person)).map((person) => [person.number, person]));
  for (const person of [...changed, ...joining]) next.set(person.number, person);
  const stored = [...next.values()].sort(byNumber);
  for (const [person, values] of mistakes) next.set(person.number, { ...person, ...values });
  next.set(hopeless.number, hopeless);
  const refused = [
    ...mistakes.map(([person, , error]) => `${person.number}: ${error}`),
    `${hopeless.number}: BAD_USER_INPUT email`,
    `badge-${hopeless.badge}: NOT_FOUND userExternalIdentifier`,
  ];
  return { list: random.some([...next.values()], next.size), stored, refused: refused.sort(), left: leaving.size };
}

test('a changed list is what the database has then, save what was refused', async () => {
  const random = randomOf(seed, 'personnel');
  const count = sizeOf({ small: 300, whole: 5000 });
  await owner.query("delete from app_public.users where external_identifier like 'P-%'");
  await owner.query("delete from app_public.cards where external_identifier like 'badge-%'");
  const people = Array.from({ length: count }, (_, index) => drawPerson(random, index + 1));
  expect(await sync(people)).toMatchObject({ code: 0, refused: [], summary: { left: 0, people: { CREATED: count } } });
  expect(await storedPeople()).toEqual(people);
  const byHand = await grantByHand(people.slice(0, 20).map(({ number }) => number));

  const { list, stored, refused, left } = drawNext(random, people);
  const dry = await sync(list, '--dry-run');
  expect([dry.summary?.left, dry.code]).toEqual([left, 1]);
  expect(await storedPeople()).toEqual(people);

  const run = await sync(list);
  expect({ ...run, errors: '' }).toMatchObject({ code: 1, refused, summary: { left } });
  expect(await storedPeople()).toEqual(stored);
  const again = await sync(list);
  expect(again).toMatchObject({ code: 1, refused, summary: { left: 0, people: { UNCHANGED: stored.length - 3 } } });
  expect(await storedPeople()).toEqual(stored);

  // What a person gave by hand is still there, of those who are.
  const { rows } = await owner.query('select count(*)::int from app_hidden.unit_access where id = any ($1)', [byHand]);
  const there = new Set(stored.map(({ number }) => number));
  expect(rows).toEqual([{ count: people.slice(0, 20).filter(({ number }) => there.has(number)).length }]);
  const strangers = await owner.query("select from app_public.users where external_identifier = 'ada'");
  expect(strangers.rowCount).toBe(1);
}, 600_000);

async function grantByHand(numbers: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query(
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select u.organization_id, u.id, n.id from app_public.users u join app_public.units n using (organization_id)
     where u.external_identifier = any ($1) and n.external_identifier = 'depot' returning id`,
    [numbers],
  );
  return rows.map(({ id }) => id);
}

test('a list that is cut short, or has somebody twice, changes nothing', async () => {
  const before = await storedPeople();
  const half = before.slice(0, before.length / 2);

  const holder = before.find(({ badge }) => badge !== null) as Person;

  for (const list of [half, [...before, holder], [...before, { ...holder, number: 'P-0', email: 'p0@people.test' }]]) {
    const { code, errors } = await sync(list);
    expect([code, errors]).toEqual([1, expect.stringMatching(/would leave: is the list whole|is twice in the list/)]);
  }
  expect(await storedPeople()).toEqual(before);
});
