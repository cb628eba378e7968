import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openForeign } from './openForeign.ts';

// The command's options, against a schema with few tables.

let database: Awaited<ReturnType<typeof openForeign>>;
let folder: string;
let first: Awaited<ReturnType<typeof database.run>>;
beforeAll(async () => {
  database = await openForeign('chat');
  await database.owner.query('drop table public.messages, public.reactions, public.room_members, public.rooms cascade');
  folder = await mkdtemp(join(tmpdir(), 'rls-prover-'));
  first = await database.run('--format', 'json');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.stop();
});

const file = async (name: string, text: string) => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};
const judgementsOf = (out: string): { [key: string]: unknown }[] => JSON.parse(out).judgements;
const isOf = (relation: string) => (one: { [key: string]: unknown }) => one.relation === relation;

it('refutes with rows, unless it may only read', async () => {
  expect(first.code).toBe(1);
  expect(judgementsOf(first.out).filter(({ verdict }) => verdict === 'refuted')).toContainEqual(
    expect.objectContaining({
      ...{ invariant: 'escalation', relation: 'public.profiles', command: 'update', role: 'authenticated' },
    }),
  );

  const { code, out } = await database.run('--read-only', '--fail-on', 'unproven', '--format', 'json');

  expect(code).toBe(1);
  expect(judgementsOf(out).map(({ verdict }) => verdict)).not.toContain('refuted');
});

it('proves invariants of a file, written as policies', async () => {
  const invariants = await file(
    'invariants.sql',
    `create policy self on public.profiles for update using (old.id = (claims.jwt ->> 'sub')::uuid);
     create policy hidden on public.profiles for select to authenticated using (old.bio is null);`,
  );

  const { code, out } = await database.run('--invariants', invariants, '--format', 'json');

  const verdicts = judgementsOf(out).filter(isOf('public.profiles'));
  expect(code).toBe(1);
  expect(verdicts).toMatchObject([
    { invariant: 'hidden', role: 'authenticated', verdict: 'refuted' },
    { invariant: 'self', role: 'anon', verdict: 'proven' },
    { invariant: 'self', role: 'authenticated', verdict: 'proven' },
  ]);
});

it('accepts a judgement with its reason for as long as its hash is the same', async () => {
  const refuted = judgementsOf(first.out)
    .filter(({ verdict }) => verdict === 'refuted')
    .map((one) => ({ ...one, reason: 'By design' }));
  const accepted = await file('accepted.json', JSON.stringify(refuted));

  expect((await database.run('--accept', accepted)).code).toBe(0);

  await database.owner.query('alter table public.emojis add column since date');
  try {
    expect((await database.run('--accept', accepted)).code).toBe(1);
  } finally {
    await database.owner.query('alter table public.emojis drop column since');
  }
});

it('judges only what depends on what has changed', async () => {
  const kept = JSON.parse(first.out);
  // A judgement that is kept is shown as the file has it.
  for (const one of kept.judgements) if (one.digest) one.why = `kept: ${one.why}`;
  const earlier = await file('earlier.json', JSON.stringify(kept));
  const shown = async () =>
    judgementsOf((await database.run('--read-only', '--changed', earlier, '--format', 'json')).out).filter(
      ({ digest }) => digest,
    );
  const isKept = ({ why }: { [key: string]: unknown }) => String(why).startsWith('kept: ');

  expect((await shown()).every(isKept)).toBe(true);

  await database.owner.query(`alter policy "People see each other" on public.profiles using (auth.uid() = id)`);
  const after = await shown();
  expect(after.filter(isOf('public.emojis')).every(isKept)).toBe(true);
  expect(after.filter(isOf('public.profiles')).some(isKept)).toBe(false);
  expect(after).toHaveLength(kept.judgements.filter(({ digest }: { digest: unknown }) => digest).length);
});

it.each([
  [['--roles', 'nobody_at_all'], /there is no role nobody_at_all/],
  [['--schemas', 'nowhere'], /no table/],
  [['--assume', `claims.role = 'x' and claims.role = 'y'`], /No claims of .* satisfy/],
])('says what is wrong with %j', async (args, message) => {
  const { code, out, error } = await database.run(...args);

  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(error).toMatch(message);
});
