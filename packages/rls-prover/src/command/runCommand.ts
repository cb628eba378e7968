import { Client, type ClientBase } from 'pg';
import { type Goal, isOpen, type Judgement } from '../interface.ts';
import { proveChanged } from '../proveChanged.ts';
import { openProver, type Prover } from '../prover.ts';
import { QuestionError } from '../QuestionError.ts';
import { readCatalogue } from '../readCatalogue.ts';
import { undone } from '../savepoints.ts';
import { type Answer, tableOf } from './answer.ts';
import { meanings } from './defaultInvariants.ts';
import { readEarlier } from './readFiles.ts';
import { scriptOf } from './script.ts';
import { type Question, stateQuestion } from './stateQuestion.ts';
import { help, parseSettings, type Settings, UsageError } from './usage.ts';

type Output = { out(text: string): void; error(text: string): void };

/** Exit codes, as sysexits.h has them. */
const exitCodes = { ok: 0, found: 1, usage: 64, unavailable: 69, software: 70 } as const;

/** Runs `rls-prover`. Never throws. @returns the exit code */
export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  try {
    const settings = parseSettings(args);
    if (settings) return await judgeDatabase(settings, output);
    output.out(help);
    return exitCodes.ok;
  } catch (error) {
    const { name, message, code = '' } = error as Error & { code?: string };
    const isUsage = error instanceof UsageError || error instanceof QuestionError || name === 'SqlError';
    output.error(`rls-prover: ${message}\n${isUsage ? 'Try rls-prover --help.\n' : ''}`);
    if (isUsage) return exitCodes.usage;
    // PostgreSQL's classes of lost connections and of operators who intervene.
    const isLost =
      error instanceof Unavailable || /^(08|57P|ECONN|EPIPE)/.test(code) || /^Connection terminated/.test(message);
    return isLost ? exitCodes.unavailable : exitCodes.software;
  }
}

class Unavailable extends Error {}

async function judgeDatabase(settings: Settings, output: Output): Promise<number> {
  const client = new Client({ connectionString: settings.url, application_name: 'rls-prover' });
  // The server may end the connection while the solver works; the next query says so.
  client.on('error', () => undefined);
  await client.connect().catch((error: Error) => {
    throw new Unavailable(`the database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`);
  });
  let prover: Prover | undefined;
  try {
    await client.query(settings.isReadOnly ? 'begin read only' : 'begin');
    const question = await stateQuestion(client, settings);
    prover = await openProver();
    const answers = await answer(client, question, settings, prover);
    output.out(settings.format === 'json' ? json(answers, question) : tableOf(answers, notesOf(question, settings)));
    const isFailing = (one: Answer) => isOpen(one) && (settings.failOn === 'unproven' || one.verdict === 'refuted');
    return answers.some(isFailing) ? exitCodes.found : exitCodes.ok;
  } finally {
    await client.query('rollback').catch(() => undefined);
    await client.end();
    await prover?.close();
  }
}

async function answer(
  client: ClientBase,
  { options, isExposed, isPlatforms, rows }: Question,
  { changed }: Settings,
  prover: Prover,
): Promise<Answer[]> {
  const earlier = changed ? await readEarlier(changed) : [];
  const asked = { ...options, isAsked: ({ relation }: Goal) => isExposed(relation) };
  const { relations } = await readCatalogue(options);
  // The rows that the prover inserts are inserted again for each script.
  const judged = await undone(client, () => proveChanged(asked, earlier, prover));
  const answers: Answer[] = [];
  for (const one of judged.filter((judgement) => isAbout(judgement, isPlatforms))) {
    // A judgement from the file has its note and script already.
    const isKept = 'script' in one;
    const why = isKept ? one.why : `${noteOf(one, relations.get(one.relation))}${one.why}`;
    const script = isKept ? (one as Answer).script : one.counterexample && (await scriptOf(client, one, rows));
    answers.push({ ...one, why, script });
  }
  return answers.sort((a, b) => order(a) - order(b) || compare(a.relation, b.relation));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const order = ({ verdict }: Answer) => ['refuted', 'unproven', 'proven'].indexOf(verdict);

/** Rights that only SQL of one's own can use are left out: clients of the servers of the presets send none. */
const isAbout = ({ invariant, command, relation }: Judgement, isPlatforms: Question['isPlatforms']): boolean =>
  invariant === 'rights' ? command === 'own' : !isPlatforms(relation.replace(/^.* on /, ''));

function noteOf(
  { verdict }: Judgement,
  relation: { rowSecurity: string | null; kind: string; isInvoker: boolean; owner: string } | undefined,
) {
  if (verdict === 'proven' || !relation) return '';
  if (relation.rowSecurity === 'off') return 'row-level security is off: ';
  return relation.kind === 'view' && !relation.isInvoker ? `the view reads as ${relation.owner}: ` : '';
}

const notesOf = ({ preset, options, schemas, empty }: Question, settings: Settings): string[] => [
  `Preset ${preset.name}; roles ${options.roles.join(', ')}; schemas ${schemas.join(', ')}.`,
  ...(settings.isReadOnly ? ['No rows were tried (--read-only), so nothing is refuted.'] : []),
  ...(settings.invariants
    ? []
    : meanings
        .filter(([name]) => options.invariants.some((one) => one.name === name))
        .map(([name, text]) => `${name}: ${text}`)),
  ...(empty.length > 0 ? [`No row could be invented for ${empty.join(', ')}.`] : []),
];

const json = (answers: readonly Answer[], { preset, options, schemas }: Question): string =>
  `${JSON.stringify({ preset: preset.name, roles: options.roles, schemas, claims: options.claims, assumptions: options.assumptions, invariants: options.invariants, judgements: answers }, null, 2)}\n`;
