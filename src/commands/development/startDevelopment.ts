import { dirname, join } from 'node:path';
import type { DatabaseError } from 'pg';
import { type Config, ownUrls } from '../../config.ts';
import { migrate } from '../../database/migrations/migrate.ts';
import { SchemaError, StartupError } from '../../errors/errors.ts';
import { defects } from '../../graphql/errors.ts';
import type { Log } from '../../log.ts';
import { type Service, startService } from '../../service/service.ts';
import { applyCurrent } from './applyCurrent.ts';
import { defectIn } from './defectIn.ts';
import { describeChange } from './describeChange.ts';
import { describeBuildError, describeFindings, type Finding, newFindings, readFindings } from './findings.ts';
import { currentFile, readCurrent } from './migrations.ts';
import { SqlFileError } from './sqlFileError.ts';
import { watchFiles } from './watchFiles.ts';

/**
 * The service on a database for development, which follows `migrations/current.sql`.
 * Each save migrates the database and swaps the schema while requests are served. A failure goes to `print`, and the old schema stays.
 * Each new row of `audit.findings` is printed once, and so is an error in a function at its first call.
 *
 * @throws {StartupError} when the service cannot start
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the start and its watchers share the state of one session.
export async function startDevelopment(config: Config, log: Log, print: (line: string) => void): Promise<Service> {
  let ownerUrl = '';
  let shown: Finding[] = [];
  const news = async () => {
    const found = await readFindings(ownerUrl).catch((error: unknown) => {
      print(`audit.findings cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return shown;
    });
    const lines = await describeFindings(newFindings(shown, found), await currentText());
    shown = found;
    return lines;
  };
  const prepare = async (embeddedUrl: string | undefined) => {
    ownerUrl = embeddedUrl ?? (await migrateOwn(config, log));
    // The file runs before anything is built, since it may repair the database.
    await applyCurrent(ownerUrl).catch(async (error: unknown) => print(await reportOf(error)));
    for (const line of await news()) print(line);
  };
  const started = Promise.withResolvers<Service>();
  const seen = new Set<string>();
  const tellDefect = async (error: DatabaseError) => {
    const defect = `${error.code} ${error.message} ${error.where}`;
    if (seen.has(defect)) return;
    seen.add(defect);
    const { message } = await defectIn(error, ownerUrl);
    print(`A function failed when it was called:\n${message}`);
  };
  const onDefect = (error: unknown) => void tellDefect(error as DatabaseError).catch(() => undefined);

  const follow = async () => {
    const service = await started.promise;
    const startedAt = performance.now();
    seen.clear();
    let found: string[] = [];
    try {
      await applyCurrent(ownerUrl);
      found = await news();
      const change = await service.reload();
      const lines = change ? await describeChange(change) : [];
      const duration = `${Math.round(performance.now() - startedAt)} ms`;
      const what = lines.length > 0 ? 'the schema has changed:' : 'the schema is the same.';
      print(
        [`Migrated and reloaded in ${duration}; ${what}`, ...lines.map((line) => `  ${line}`), ...found].join('\n'),
      );
    } catch (error) {
      print([...found, await reportOf(error), 'The schema stays as it was.'].join('\n'));
    }
  };
  const queue = oneAtATime(follow);
  // Watching begins before the file first runs, so that no save is missed.
  const watching = watchFiles([currentFile, join(dirname(currentFile), 'committed')], queue.add);
  const service = await startService(config, log, { prepare, isForDevelopers: true }).catch(async (error: unknown) => {
    watching.stop();
    if (!(error instanceof SchemaError)) throw error;
    throw new StartupError(await describeBuildError(error, await currentText()), { cause: error });
  });
  started.resolve(service);
  defects.subscribe(onDefect);
  const stop = async () => {
    watching.stop();
    defects.unsubscribe(onDefect);
    await queue.idle();
    await service.stop();
  };
  return { ...service, stop };
}

async function migrateOwn({ database }: Config, log: Log): Promise<string> {
  if (database.kind === 'embedded') throw new Error('The embedded database comes with its URL');
  const urls = ownUrls(database);
  await migrate(urls, log);
  return urls.ownerUrl;
}

async function reportOf(error: unknown): Promise<string> {
  return error instanceof SqlFileError ? error.message : describeBuildError(error, await currentText());
}

/** Empty when it cannot be read, which applying it has said. */
const currentText = () => readCurrent().catch(() => '');

/** Runs again after the present run, once, however many calls there were meanwhile. */
function oneAtATime(run: () => Promise<void>) {
  let running = Promise.resolve();
  let waiting = false;
  return {
    add() {
      if (waiting) return;
      waiting = true;
      running = running.then(() => {
        waiting = false;
        return run();
      });
    },
    idle: () => running,
  };
}
