import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig, ownUrls } from '../../src/config.ts';
import { toDriverUrl } from '../../src/connectionUrl.ts';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { createMigrationsCopy } from '../support/migrationsCopy.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { type ProcessOptions, startProcess, type TestProcess } from '../support/process.ts';
import { startTestService, type TestService, testSecretKey, unthrottled } from '../support/service.ts';
import { addressOf } from '../support/workers.ts';

/** Where the service runs: what a person types there, and what a test needs to look at it. */
export type Environment = {
  /** `npm run db:migrate` */
  migrate(): Promise<void>;
  /** `npm start`. @returns its address */
  start(): Promise<string>;
  /** The owner's, for the driver, while the service runs. */
  ownerUrl(): Promise<string>;
  /** `npm run db:commit -- "add events"` of this `current.sql`. */
  commit(sql: string): Promise<void>;
  /** Stops the service, and deletes what is not the cluster's. */
  remove(): Promise<void>;
};

export type Variables = Readonly<Record<string, string>>;

const serving = { ...unthrottled, WEBHOOK_PRIVATE_ADDRESSES: 'true', WEBHOOK_WORKER: 'true' };
const log = createLog('error');

/** The service in this process, with a database of one's own. */
export function inProcess(variables: Variables, commit: Commit | undefined, remove: () => Promise<void>): Environment {
  const { DATABASE_URL: ownerUrl = '', AUTH_DATABASE_URL: authUrl = '' } = variables;
  let service: TestService | null = null;
  return {
    async migrate() {
      const { database } = loadConfig(variables, 'migrate');
      if (database.kind === 'own') await migrate(ownUrls(database), log);
    },
    async start() {
      service = await startTestService({ ownerUrl, authUrl }, { ...serving, ...variables });
      return service.url;
    },
    ownerUrl: async () => toDriverUrl(ownerUrl, variables),
    commit: async (sql) => commit?.(variables, sql),
    async remove() {
      await service?.stop();
      await remove();
    },
  };
}

export type Commit = (variables: Variables, sql: string) => Promise<void>;

/** Commits in one copy of the sources, one after the other, each time after the same migrations. */
export async function createWorkshop(): Promise<{ commit: Commit; remove(): Promise<void> }> {
  const copy = await createMigrationsCopy();
  const committed = await copy.committed();
  let last = Promise.resolve();
  const commitHere: Commit = async (variables, sql) => {
    await copy.write('migrations/current.sql', sql);
    try {
      await copy.run('commit', ['add events'], loadConfig(variables, 'migrations'));
    } finally {
      for (const name of await copy.committed())
        if (!committed.includes(name)) await copy.removeFile(`migrations/committed/${name}`);
    }
  };
  return {
    commit(variables, sql) {
      const done = last.then(() => commitHere(variables, sql));
      last = done.catch(() => undefined);
      return done;
    },
    remove: copy.remove,
  };
}

type Machine = {
  readonly root: string;
  readonly variables: Variables;
  /** Of a database of one's own, with all that the shell may say instead. */
  readonly ownerUrl?: string | undefined;
  readonly options?: ProcessOptions;
  /** How an editor there saves a file. */
  readonly save?: (text: string) => string;
  remove(): Promise<void>;
};

/** Each command in a process of its own, with exactly these variables; on the embedded database unless they name another. */
export function inProcesses({
  root,
  variables,
  ownerUrl,
  options,
  save = (text) => text,
  remove,
}: Machine): Environment {
  const environment = {
    PATH: process.env.PATH ?? '',
    ...{ HOST: '127.0.0.1', PORT: '0', SECRET_KEY: testSecretKey, ...testPasswordCost, ...serving },
    ...variables,
  };
  const run = async (...args: string[]) => {
    const { exited, output } = startProcess(args, environment, root, options);
    const { code } = await exited;
    expect({ args, code, ...(code !== 0 && output) }).toEqual({ args, code: 0 });
  };
  let service: TestProcess | null = null;
  return {
    migrate: () => run('migrate'),
    async start() {
      service = startProcess([], environment, root, options);
      await service.says('Graph Query Service: http');
      return addressOf(service);
    },
    async ownerUrl() {
      if (ownerUrl) return toDriverUrl(ownerUrl);
      return (await findEmbeddedPostgres(variables.DATA_DIR ?? '', log))?.ownerUrl ?? '';
    },
    async commit(sql) {
      // What db:commit asks for where an editor has changed the committed ones.
      if (save !== undefined) await run('rehash');
      await writeFile(join(root, 'migrations/current.sql'), save?.(sql) ?? sql);
      await run('commit', 'add events');
    },
    async remove() {
      service?.signal('SIGTERM');
      await service?.exited;
      await remove();
    },
  };
}
