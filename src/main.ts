import cluster from 'node:cluster';
import { availableParallelism, constants } from 'node:os';
import type { DevelopmentCommand, PlainCommand } from './commands/help.ts';
import { reportFailure } from './commands/reportFailure.ts';
import { type Config, ConfigError, loadConfig, ownUrls } from './config.ts';
import { describeFailure, explainFailure, StartupError } from './errors/errors.ts';
import { createLog, type Log } from './log.ts';
import type { Started } from './service/service.ts';

const [name = 'serve', ...args] = process.argv.slice(2);

const isProduction = process.env.NODE_ENV === 'production';
// Express and PostGraphile read it when they are imported, so the commands import them later.
process.env.NODE_ENV ??= name === 'dev' ? 'development' : 'production';
process.env.GRAPHILE_ENV ??= process.env.NODE_ENV;
// The lanes of a password's hash take turns on one thread. On busy cores that is faster, and leaves the other cores to other work.
process.env.RAYON_NUM_THREADS ??= '1';
// The driver reads libpq's variables of the shell; the embedded database is not what they name. A worker has its supervisor's.
if (cluster.isPrimary && !process.env.DATABASE_URL?.trim() && !process.env.AUTH_DATABASE_URL?.trim())
  for (const variable of Object.keys(process.env)) if (/^PG[A-Z]/.test(variable)) delete process.env[variable];
// libpq's default, and the same as to say nothing; the driver takes it for require.
if (/^(prefer|allow)$/.test(process.env.PGSSLMODE ?? '')) delete process.env.PGSSLMODE;

const commands = new Map(
  Object.entries({
    ...{ serve: plain(serve), worker: plain(worker), migrate: plain(migrate), dev: plain(dev) },
    ...{ token, admin, audit },
    ...{ commit: develop, uncommit: develop, rehash: develop, reset: develop, status: develop, schema: develop },
    '--help': async () => console.log((await import('./commands/help.ts')).helpText()),
  }),
);

endOnCrash((error) => reportFailure(error, process.env.LOG_LEVEL));
const endSignals = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP'] as const;
// By default a signal ends the process without its exit handlers, of which one stops the embedded database.
for (const signal of endSignals) process.on(signal, () => process.exit(128 + constants.signals[signal]));
// By default they open the inspector, which runs any code, and end the process.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);

const command = commands.get(name);
try {
  if (!command) throw new StartupError(`There is no command ${name}; there are ${[...commands.keys()].join(', ')}.`);
  if (process.stderr.isTTY && cluster.isPrimary) (await import('./commands/progress.ts')).showMigrations();
  await command(args);
} catch (error) {
  process.exit(reportFailure(error, process.env.LOG_LEVEL));
}

/** A command that takes no arguments. */
function plain(run: () => Promise<void>): () => Promise<void> {
  return async () => {
    if (args.length > 0) await readArguments();
    await run();
  };
}

async function readArguments() {
  return (await import('./commands/help.ts')).readArguments(name as PlainCommand, args);
}

/** `npm start` */
async function serve(): Promise<void> {
  if (cluster.isWorker) return work();
  const config = loadConfig(process.env, 'serve');
  const log = createLog(config.logLevel);
  const workers = config.workers ?? (isProduction ? availableParallelism() : null);
  if (workers !== null) return superviseWorkers(config, workers, log);
  const starting = import('./service/service.ts').then(({ startService }) =>
    startService(config, log, { warmsUp: true, isForDevelopers: !isProduction }),
  );
  stopOnSignals(starting, log);
  const service = await starting;
  await printBanner(service);
}

async function printBanner(started: Started): Promise<void> {
  const { inColour, startupBanner } = await import('./service/service.ts');
  console.log(inColour(await startupBanner(started)));
}

/** Supervises one process for each core, or as many as WORKERS says; SIGHUP replaces them one by one. */
async function superviseWorkers(config: Config, count: number, log: Log): Promise<void> {
  // V8's helper threads, four a process by default, would take cores from the other processes and PostgreSQL.
  const helpers = Math.max(1, Math.min(4, Math.floor(availableParallelism() / count)));
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...process.execArgv, `--v8-pool-size=${helpers}`] });
  // Workers get the settings that they need by message.
  const fork = () =>
    cluster.fork({
      DATABASE_URL: '',
      AUTH_DATABASE_URL: '',
      OAUTH_DATABASE_URL: '',
      REPLICA_DATABASE_URL: '',
      SECRET_KEY: '',
      SECRET_KEY_PREVIOUS: '',
    });
  const { supervise } = await import('./workers/supervise.ts');
  const supervisor = supervise(config, count, fork, log);
  stopOnSignals(Promise.resolve(supervisor), log);
  process.removeAllListeners('SIGHUP').on('SIGHUP', supervisor.roll);
  supervisor.failed.catch(async (error: unknown) => {
    await supervisor.stop();
    process.exit(reportFailure(error, config.logLevel));
  });
  await printBanner(await supervisor.started);
}

/** The supervisor starts it. */
async function work(): Promise<void> {
  // Meant for the supervisor, even when a terminal sends it to all processes.
  const ignoreHangup = () => process.removeAllListeners('SIGHUP').on('SIGHUP', () => undefined);
  ignoreHangup();
  const { runWorker } = await import('./workers/runWorker.ts');
  await runWorker(createLog, (starting, log) => {
    stopOnSignals(starting, log);
    ignoreHangup();
  });
}

/** `npm run worker` */
async function worker(): Promise<void> {
  const config = loadConfig(process.env, 'worker');
  const log = createLog(config.logLevel);
  if (!config.webhooks) return log.warn('WEBHOOKS is off: there is nothing to send');
  const { startWebhookWorker } = await import('./commands/startWebhookWorker.ts');
  const starting = startWebhookWorker(config, log);
  stopOnSignals(starting, log);
  await starting;
}

/** `npm run db:migrate` */
async function migrate(): Promise<void> {
  const config = loadConfig(process.env, 'migrate');
  const log = createLog(config.logLevel);
  const { database } = config;
  if (database.kind === 'own') {
    const { migrate } = await import('./database/migrations/migrate.ts');
    await migrate(ownUrls(database), log);
  }
  // An embedded one is migrated whenever it is opened.
  const { withDatabase } = await import('./database/openDatabase.ts');
  const { readAhead } = await import('./database/migrations/committedMigrations.ts');
  const ahead = await withDatabase(config, (owner) => readAhead(owner));
  console.log(ahead ?? 'The database has every migration.');
}

/** `npm run token <whose>` */
async function token(): Promise<void> {
  const { operands } = await readArguments();
  const { database } = loadConfig(process.env, 'migrations');
  const { requestDemoToken } = await import('./commands/requestDemoToken.ts');
  console.log(await requestDemoToken(database, operands[0]));
}

/** `npm run admin -- <args>` */
async function admin(args: string[]): Promise<void> {
  const { runAdmin } = await import('./commands/admin/runAdmin.ts');
  process.exit(await runAdmin(args, () => loadConfig(process.env, 'admin')));
}

/** `npm run audit -- <args>` */
async function audit(args: string[]): Promise<void> {
  const { runAudit } = await import('./commands/audit/runAudit.ts');
  process.exit(await runAudit(args, () => loadConfig(process.env, 'migrations'), console.log));
}

/** `npm run dev` */
async function dev(): Promise<void> {
  refuseInProduction();
  const config = loadConfig({ LOG_LEVEL: 'warn', ...process.env }, 'dev');
  const log = createLog(config.logLevel);
  const { startDevelopment } = await import('./commands/development/startDevelopment.ts');
  const { inColours } = await import('./commands/development/inColours.ts');
  const starting = startDevelopment(config, log, (text) => console.log(inColours(text)));
  stopOnSignals(starting, log);
  const service = await starting;
  await printBanner(service);
  console.log('Save migrations/current.sql: the schema follows.');
}

/** `npm run db:commit`, `db:uncommit`, `db:rehash`, `db:reset`, `db:status` and `schema:update` */
async function develop(): Promise<void> {
  const command = name as DevelopmentCommand;
  const { runDevelopmentCommand } = await import('./commands/development/runDevelopmentCommand.ts');
  const load = () => {
    if (command === 'reset' || command === 'uncommit') refuseInProduction();
    return loadConfig(process.env, command === 'reset' ? 'migrate' : 'migrations');
  };
  process.exit(await runDevelopmentCommand(command, args, load, console.log));
}

function refuseInProduction(): void {
  if (isProduction)
    throw new StartupError(`${name} changes the database as a developer saves files; NODE_ENV is production.`);
}

/** A signal to end: drain, stop, exit 0. Another signal meanwhile changes nothing. */
function stopOnSignals(starting: Promise<{ stop(preStopMs?: number): Promise<void> }>, log: Log): void {
  // For clients that are connecting or sending at this moment, and balancers that have yet to see that it is not ready.
  const preStopMs = 500;
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    const service = await starting.catch(() => null);
    if (!service) return;
    await service.stop(preStopMs);
    process.exit(0);
  };
  for (const signal of endSignals) process.removeAllListeners(signal).on(signal, stop);
  endOnCrash((error) => {
    const isOfConfig = error instanceof ConfigError;
    const isExplained = isOfConfig || explainFailure(error) !== null;
    // A fault of the service may not happen again, so its stack is logged.
    log.fatal(isExplained ? {} : { error }, describeFailure(error));
    if (isExplained) log.debug({ error }, 'this ends the process');
    return isOfConfig ? 78 : 1;
  });
}

/** Ends the process after an error that nothing has caught, such as a connection that breaks between two statements. */
function endOnCrash(report: (error: unknown) => number): void {
  for (const event of ['uncaughtException', 'unhandledRejection'])
    process.removeAllListeners(event).on(event, (error: unknown) => process.exit(report(error)));
}
