import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Judgement, Options } from 'rls-prover';
import { proveAgain } from '../../../src/commands/audit/prove/proveAgain.ts';
import { readOptions } from '../../../src/commands/audit/prove/readOptions.ts';
import { startProving } from './support.ts';

// `audit prove --changed`, of two tables that have little to do with each other.

let proving: Awaited<ReturnType<typeof startProving>>;
let folder: string;
beforeAll(async () => {
  proving = await startProving();
  folder = await mkdtemp(join(tmpdir(), 'prove-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await proving.stop();
});

const tables = /^(app_public\.cards|oauth\.throttles)$/;
const isAsked: Options['isAsked'] = ({ relation, command }) => tables.test(relation) && command === 'select';

const judgeAfter = (statements: string, path: string): Promise<Judgement[]> =>
  proving.within(async (client) => {
    await client.query(statements);
    const judgements = await proveAgain({ ...(await readOptions(client)), isAsked }, path, proving.prover);
    return judgements.filter(({ relation }) => tables.test(relation));
  });

/** Notes in the file that a judgement comes from there. */
async function mark(path: string): Promise<void> {
  const judgements: Judgement[] = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify(judgements.map((one) => ({ ...one, why: `marked: ${one.why}` }))));
}

test('proves again what depends on a policy that has changed, and takes the rest from the file', async () => {
  const path = join(folder, 'proofs.json');
  const first = await judgeAfter('', path);
  await mark(path);
  expect(first.length).toBeGreaterThan(4);

  const second = await judgeAfter('', path);
  expect(second.every(({ why }) => why.startsWith('marked: '))).toBe(true);

  const [policy] = (
    await proving.database.owner.query<{ polname: string }>(
      `select polname from pg_policy where polrelid = 'app_public.cards'::regclass and polcmd = 'r' limit 1`,
    )
  ).rows;
  const third = await judgeAfter(`alter policy ${policy?.polname} on app_public.cards using (true)`, path);

  const kept = third.filter(({ why }) => why.startsWith('marked: ')).map(({ relation }) => relation);
  expect([...new Set(kept)]).toEqual(['oauth.throttles']);
  expect(third.filter(({ relation, verdict }) => relation === 'app_public.cards' && verdict === 'refuted')).not.toEqual(
    [],
  );
});
