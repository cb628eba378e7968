import { type Command, InvalidArgumentError } from 'commander';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import type { Config } from '../../config.ts';
import { type Holder, scopeNames, scopes } from '../../token/scopes.ts';
import { addExamples, createProgram, runProgram } from '../commandLine.ts';
import { readChanges } from './changes.ts';
import { diff } from './diff.ts';
import { type Head, parseHead } from './history/head.ts';
import { seal } from './history/seal.ts';
import { verify } from './history/verify.ts';
import { prove } from './prove/prove.ts';
import { explain, explainDecision, visible, whoCan } from './questions.ts';
import { report } from './report.ts';
import { findUnused } from './unused.ts';
import { type Answer, type AuditedDatabase, withAuditedDatabase } from './withAuditedDatabase.ts';

/**
 * `npm run audit -- <args>`. Prints Markdown, and changes nothing except by `seal`.
 *
 * @returns the exit code: 1 when there is a finding, or when access has become wider or cannot be compared
 * @throws {ConfigError | StartupError} and any other error of a command
 */
export async function runAudit(
  args: readonly string[],
  loadConfig: () => Config,
  print: (text: string) => void,
): Promise<number> {
  let exitCode = 0;
  const run: Run = async (ask) => {
    const answer = await withAuditedDatabase(loadConfig(), ask);
    print(answer.text);
    if (answer.findings > 0) exitCode = 1;
  };
  return (await runProgram(createAuditProgram(run), args)) || exitCode;
}

type Run = (ask: (database: AuditedDatabase) => Promise<Answer>) => Promise<void>;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the commands are declared in the order in which `--help` lists them.
export function createAuditProgram(run: Run): Command {
  const description =
    'Says who may do what in the database, who can see or change a row and why, and who changed what.';
  const program = createProgram('audit', description, '[command] [arguments]', afterHelp)
    .argument('[unknown...]')
    .action(([unknown]: string[], _options: unknown, command: Command) =>
      unknown === undefined ? run(report) : command.error(unknownCommand(command, unknown)),
    );
  program
    .command('who-can')
    .description('who can select, update or delete a row, each tried, by which policies and through which access')
    .argument('<table>', 'such as units, which is app_public.units')
    .argument('<key>', keyHelp)
    .option('--at <time>', atHelp)
    .action((table: string, key: string, options) => run((database) => whoCan(database, table, key, options)));
  program
    .command('explain')
    .description(
      'what becomes of each command of a principal on a row, and which part of which policy decided; or the path to a decision',
    )
    .argument('<principal>', principals.join(', '))
    .argument('<table>', 'such as units, which is app_public.units; or decision')
    .argument('<key>', `${keyHelp}; or a decision's question, such as ${questionHelp}`)
    .option('--at <time>', `of a decision: ${atHelp}`)
    .action((principal: string, table: string, key: string, options: { at?: string }, command: Command) => {
      if (table === 'decision') return run((database) => explainDecision(database, principal, key, options));
      if (options.at !== undefined)
        command.error('error: --at is for decisions; who-can --at asks about a row', { exitCode: 64 });
      return run((database) => explain(database, principal, table, key));
    });
  program
    .command('visible')
    .description('how many rows of each table a principal sees; with --at, which ones')
    .argument('<principal>', principals.join(', '))
    .option('--at <time>', atHelp)
    .action((principal: string, options) => run((database) => visible(database, principal, options)));
  program
    .command('changes')
    .description('who changed what, the newest first')
    .option('--table <table>', 'of one table')
    .option(
      '--of <id>',
      'of a person and what belongs to them, by external identifier, e-mail or id; of another row by id',
    )
    .option('--by <principal>', 'by an application, app:<client id>; by a person, me:<e-mail>; or by an id')
    .option('--since <time>', 'such as 2026-11-21 or yesterday')
    .option('--limit <number>', 'at most so many', positive, 100)
    .action((options) => run((database) => readChanges(database, options)));
  program
    .command('unused')
    .description('which rights and policies of tokens no request has used')
    .option('--since <day>', 'such as 2026-11-21; else since uses are counted')
    .action((options) => run((database) => findUnused(database, options)));
  program
    .command('diff')
    .description('what the migrations here let whom do that those of a git revision did not, and the other way round')
    .argument('<revision>', 'such as main or HEAD~1')
    .action((revision: string) => run((database) => diff(database, revision)));
  program
    .command('seal')
    .description(
      'chains the history up to now and prints the head, to be kept where no administrator of the database writes',
    )
    .action(() => run(seal));
  program
    .command('verify')
    .description('whether an entry of the history up to a head was changed, removed, inserted or reordered since')
    .requiredOption('--head <head>', 'what `seal` has printed', head)
    .action((options: { head: Head }) => run((database) => verify(database, options.head)));
  program
    .command('prove')
    .description('proves that no client role can break an invariant, or shows a row with which it does')
    .option('--mutate', 'also weakens each part of each policy and each right, and says what notices')
    .action((options) => run((database) => prove(database, options)));
  return addExamples(program, examples);
}

/** The arguments of an example for each command. */
export const examples: Readonly<Record<string, string>> = {
  'who-can': 'who-can units north-lab',
  explain: 'explain me:grace@demo.test units depot',
  visible: 'visible me:grace@demo.test --at yesterday',
  changes: 'changes --by app:demo-backend --since yesterday',
  unused: 'unused --since 2026-11-21',
  diff: 'diff main',
  seal: 'seal',
  verify: 'verify --head 1-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  prove: 'prove --mutate',
};

const keyHelp = 'its external identifier or id; or its key as JSON, such as \'{"user_id": "…", "unit_id": "…"}\'';

const questionHelp = '\'{"unit_external_identifier": "…", "nfc_identifier": "…"}\'';

const atHelp = 'at a time that has passed, such as 2026-11-21 or yesterday, by the history and the present policies';

const keys: Record<Holder, string> = { application: 'client id', user: 'user id, e-mail or external identifier' };
const principals = [...scopeNames.map((name) => `${name}:<${keys[scopes[name].holder]}>`), 'oauth:<organization>'];

const afterHelp = `Without a command: everything as one report.
Exit code: 0 nothing to look at, 1 findings or failure, 64 wrong usage, 78 wrong configuration.`;

function head(text: string): Head {
  const parsed = parseHead(text);
  if (parsed) return parsed;
  throw new InvalidArgumentError('It is what `npm run -s audit -- seal` has printed.');
}

function positive(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number above 0.');
}

/** As the program says it that needs a command. */
function unknownCommand({ commands }: Command, unknown: string): string {
  const [near] = suggestionList(
    unknown,
    commands.map((command) => command.name()),
  );
  return `error: unknown command '${unknown}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`;
}
