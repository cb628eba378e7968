import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { requestDemoToken } from '../../src/commands/requestDemoToken.ts';
import { toLibpqUrl } from '../../src/connectionUrl.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { type EmbeddedDatabase, embeddedDatabase } from './embeddedDatabase.ts';
import { commandOf, paste, secretsOf } from './firstLines.ts';

describe('npm start without a database', () => {
  let dataDir: string;
  let database: EmbeddedDatabase;
  let firstStart: TestProcess;
  let service: TestProcess;

  beforeAll(async () => {
    dataDir = await createTestDataDirectory(await directoryInMemory());
    database = embeddedDatabase(dataDir);
    firstStart = await start();
    service = firstStart;
  });

  afterAll(async () => {
    await stop();
    await removeTestDataDirectory(dataDir);
  });

  describe('started for the first time', () => {
    beforeEach(() => startUnlessItRuns());

    it('serves', async () => {
      const response = await fetch(`${addressOf(service)}/readyz`);

      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'ready' });
    });

    it('shows where everything is, and a command that works when pasted, without colours', async () => {
      const url = addressOf(service);

      expect(service.output.stdout.split('\n')).toEqual([
        `Graph Query Service: ${url}`,
        `GraphiQL: ${url}/graphiql`,
        `Playground: ${url}/playground`,
        `Documentation: ${url}/documentations/graphql`,
        expect.stringContaining(`Database: an embedded PostgreSQL in `),
        expect.stringMatching(/^Demo credentials of an application: client_id demo-backend, client_secret \S+$/),
        expect.stringMatching(
          /^Demo credentials of a user: username ada@demo.test, password \S+, client_id demo-mobile$/,
        ),
        expect.stringMatching(
          /^Demo credentials of a user's other system: external_authentication_token \S+, client_id demo-external$/,
        ),
        expect.stringMatching(/^curl [^|$`]*$/),
        '',
      ]);
      const answer = JSON.parse(await paste(commandOf(service)));
      expect(answer).toMatchObject({ data: { app: { name: 'Demo Backend' } } });
      expect(answer).toHaveProperty('data.app.users.nodes.length', 3);
    });

    it('is for developers: it tells which policy shows a row', async () => {
      const [token = ''] = commandOf(service).match(/gqs_at_[\w-]+/) ?? [];
      const headers = { Authorization: `Bearer ${token}` };
      const url = addressOf(service);

      expect(await (await fetch(`${url}/graphiql`)).text()).toContain('"whyPath":"/graphiql/why"');
      expect((await fetch(`${url}/graphiql/why/organization`, { headers })).status).toBe(200);
      expect((await fetch(`${url}/graphiql/why/organization`)).status).toBe(401);
    });

    it('has a command that prints a token of each kind', async () => {
      const scopes = ['app', 'basic', 'me', 'me', 'app'];
      const { code, stdout } = await runToken('app');
      const others = [['basic'], ['external'], ['konrad@demo.test'], []].map(requestToken);

      const tokens = [stdout.trim(), ...(await Promise.all(others))];

      expect(code).toBe(0);
      const infos = tokens.map(async (token) => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await (await fetch(`${addressOf(service)}/oauth/token/info`, { headers })).json()) as object;
      });
      expect(await Promise.all(infos)).toEqual(scopes.map((scope) => expect.objectContaining({ scope: [scope] })));
    });

    it('gives no token for a word that is no kind or a person who is not there, and says why', async () => {
      await expect(requestToken(['nobody@demo.test'])).rejects.toThrow('User name or password is wrong');
      expect(await runToken('dance')).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('there is no dance'),
      });
    });

    it('keeps its secrets readable for its owner only', async () => {
      for (const name of ['postgres.json', 'postgres-oauth.json', 'secret-key.json', 'demo.json', 'demo.env']) {
        expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
      }
      expect((await readdir(dataDir)).filter((name) => name.includes('password'))).toEqual([]);
    });

    it('lets admin commands work beside it', async () => {
      const admin = startProcess(['admin', 'database-url'], environment());

      expect(await admin.exited).toEqual({ code: 0, signal: null });
      expect(admin.output.stdout.trim()).toBe(toLibpqUrl((await database.find())?.ownerUrl ?? ''));
    });

    it('starts the database again when that alone is killed', async () => {
      await database.remember('database');

      process.kill(await database.postmasterPid(), 'SIGKILL');
      await service.says('the embedded database ended; starting it again');
      await until(async () => (await fetch(`${addressOf(service)}/readyz`)).status === 200);

      expect(await database.remembered()).toContain('database');
    });

    it('stops the database cleanly on SIGTERM and exits with 0', async () => {
      service.signal('SIGTERM');

      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(await database.find()).toBeNull();
      expect(await runToken()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('No service answers at http'),
      });
    });
  });

  it('lets exactly one of several win that start at the same instant, and refuses the others', async () => {
    await stop();
    const contenders = [1, 2, 3].map(() => startProcess([], environment()));

    const outcomes = await Promise.all(
      contenders.map((contender) =>
        contender.says('curl ').then(
          () => contender,
          () => null,
        ),
      ),
    );

    const winners = outcomes.filter((winner) => winner !== null);
    expect(winners).toHaveLength(1);
    service = winners[0] ?? service;
    for (const loser of contenders.filter((contender) => contender !== service)) {
      expect(await loser.exited).toEqual({ code: 1, signal: null });
      expect(loser.output.stderr).toContain(`Another server already uses the data directory ${dataDir}`);
    }
    expect((await fetch(`${addressOf(service)}/readyz`)).status).toBe(200);
  });

  it('leaves no database behind when a command that starts it is interrupted', async () => {
    await stop();
    const command = startProcess(['migrate'], environment());
    await until(async () => command.running === false || (await database.find()) !== null);

    command.signal('SIGINT');
    await command.exited;

    await until(async () => (await database.find()) === null);
  });

  describe('started again', () => {
    beforeEach(() => startUnlessItRuns());

    it('shows the same secrets at the next start, which still work, and never in the log', async () => {
      const shown = secretsOf(firstStart);
      await startAgain();

      expect(secretsOf(service)).toEqual(shown);
      expect(JSON.parse(await paste(commandOf(service)))).toHaveProperty('data.app.name', 'Demo Backend');
      const [token = ''] = commandOf(service).match(/gqs_at_[\w-]+/) ?? [];
      expect(token).not.toBe('');
      for (const secret of [...shown, token]) expect(service.output.stderr).not.toContain(secret);
    });

    it('keeps every acknowledged write when the whole group is killed', async () => {
      await database.remember('group');

      service.signalGroup('SIGKILL');
      await service.exited;
      service = await start();

      // It has ended the database that was left, and not waited for the deadline.
      expect(await database.postgresLog()).toContain('database system was shut down');
      expect(await database.remembered()).toContain('group');
    });

    it('keeps every acknowledged write when the database is killed, too', async () => {
      await database.remember('everything');

      service.signalGroup('SIGKILL');
      await service.exited;
      process.kill(await database.postmasterPid(), 'SIGKILL');
      service = await start();

      expect(await database.remembered()).toContain('everything');
    });

    it('takes the database along when it crashes, logs why and exits with 1', async () => {
      service.signal('SIGUSR2');

      expect(await service.exited).toEqual({ code: 1, signal: null });
      expect(service.output.stderr).toContain('a bug');
      await until(async () => (await database.find()) === null);
    });

    it.each(['SIGHUP', 'SIGQUIT'] as const)('opens no inspector, and stops as cleanly on %s', async (signal) => {
      service.signal('SIGUSR1');
      expect((await fetch(`${addressOf(service)}/readyz`)).status).toBe(200);
      service.signalGroup(signal);

      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(service.output.stderr).not.toContain('Debugger listening');
      expect(await database.find()).toBeNull();
    });

    it('stops as cleanly when the whole group gets Ctrl-C, more than once', async () => {
      service.signalGroup('SIGINT');
      service.signalGroup('SIGINT');
      service.signal('SIGTERM');

      expect(await service.exited).toEqual({ code: 0, signal: null });
    });
  });

  // Some tests end it. A start takes seconds, so what ends it comes before what begins with a start.
  const startUnlessItRuns = async () => {
    if (!service.running) service = await start();
  };

  const environment = () => ({
    PATH: process.env.PATH ?? '',
    DATA_DIR: dataDir,
    PORT: '0',
    ...testPasswordCost,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}`,
  });

  async function start(): Promise<TestProcess> {
    const started = startProcess([], environment());
    await started.says('curl ');
    return started;
  }

  /** What the command does in its process. */
  const requestToken = ([whose]: string[]) => requestDemoToken({ kind: 'embedded', dataDir }, whose);

  /** `npm run -s token`, from another terminal. */
  async function runToken(...args: string[]) {
    const { output, exited } = startProcess(['token', ...args], environment());
    const { code } = await exited;
    return { code, ...output };
  }

  async function stop(): Promise<void> {
    service.signal('SIGTERM');
    await service.exited;
  }

  /** Unless a test before has. */
  async function startAgain(): Promise<void> {
    if (service !== firstStart) return;
    await stop();
    service = await start();
  }
});

/** In every start; it waits for its signal. */
const bug = `process.on('SIGUSR2', () => { throw new Error('a bug'); })`;
