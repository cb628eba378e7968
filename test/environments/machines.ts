import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import type { ProcessOptions } from '../support/process.ts';
import { createSourceCopy, program } from '../support/sourceCopy.ts';
import { type Cluster, createEmptyDatabase } from './cluster.ts';
import { type Environment, inProcesses, type Variables } from './environment.ts';
import { combine, type Row, single, waysOf } from './matrix.ts';

type Machine = {
  readonly variables?: Variables;
  /** Instead of the embedded database. */
  readonly ownDatabase?: (variables: Variables) => Variables;
  /** Where the clone is, below a new folder; and its mode, when it is not 0755. */
  readonly clone?: string;
  readonly mode?: number;
  /** Where the data is, below the same folder. */
  readonly data?: string;
  /** Who owns all of that, and starts the service. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly umask?: string;
  /** What an editor, an archive or Git makes of each text. */
  readonly text?: (text: string) => string;
};

/** What libpq reads, each with what leads nowhere. */
const libpq = {
  ...{ PGHOST: 'nowhere.invalid', PGHOSTADDR: '192.0.2.1', PGPORT: '1', PGDATABASE: 'nowhere', PGUSER: 'nobody' },
  ...{ PGPASSWORD: 'wrong', PGPASSFILE: '/nonexistent', PGSERVICE: 'nowhere', PGSERVICEFILE: '/nonexistent' },
  ...{ PGOPTIONS: '-c default_transaction_read_only=on -c DateStyle=German', PGSSLMODE: 'prefer', PGREQUIREPEER: 'x' },
  ...{ PGTZ: 'Asia/Kolkata', PGDATESTYLE: 'German', PGAPPNAME: 'mine', PGCLIENTENCODING: 'LATIN1', PGGEQO: 'off' },
  ...{ PGTARGETSESSIONATTRS: 'standby', PGCONNECT_TIMEOUT: '1', PGGSSENCMODE: 'disable', PGCHANNELBINDING: 'disable' },
};

const shells = waysOf<Machine>('The shell', {
  '`PGSSLMODE=prefer`': { variables: { PGSSLMODE: 'prefer' } },
  '`PGSSLMODE=verify-full`, `PGSSLROOTCERT` of no file': {
    variables: { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/nonexistent' },
  },
  '`PGOPTIONS`, read-only': { variables: { PGOPTIONS: '-c default_transaction_read_only=on' } },
  "all of libpq's variables": { variables: libpq },
  "all of libpq's variables, with a database of one's own": {
    variables: libpq,
    ownDatabase: (urls) => urls,
  },
  "`PGHOST`, `PGPORT` and `PGPASSWORD` of a database of one's own": {
    ownDatabase(urls) {
      const { hostname, port, password } = new URL(urls.AUTH_DATABASE_URL ?? '');
      const rest = Object.entries(urls).map(([name, url]) => {
        const { username, pathname } = new URL(url);
        return [name, `postgres://${username}@${pathname}`];
      });
      return { ...Object.fromEntries(rest), PGHOST: hostname, PGPORT: port, PGPASSWORD: password };
    },
  },
  'another locale and time zone': { variables: { LC_ALL: 'tr_TR.UTF-8', LANG: 'de_DE', TZ: 'Asia/Kolkata' } },
  'no `HOME` that is there, and no `TMPDIR`': { variables: { HOME: '/nonexistent', TMPDIR: '/nonexistent' } },
  '`TMPDIR` elsewhere': { variables: { TMPDIR: '$folder' } },
  'a umask of 077': { umask: '077' },
});

const folders = waysOf<Machine>('The folder', {
  'an ordinary one': {},
  'spaces, quotes and beyond ASCII': { clone: `Größe & 数据 "x" 'y'/clone`, data: `Daten % ü/my data` },
  'a long path of the data': { data: `${'long'.repeat(40)}/data` },
  'mode 0700': { mode: 0o700 },
});

/** Only root can start the service as another user. */
const isRoot = process.getuid?.() === 0;
const users = waysOf<Machine>('The user', {
  ...(isRoot && { root: {} }),
  'an ordinary one': isRoot ? { user: { uid: 65534, gid: 65534 } } : {},
});

const crlf = (text: string) => text.replace(/\r?\n/g, '\r\n');
const clones = waysOf<Machine>('The files of the clone', {
  'as Git has them': {},
  CRLF: { text: crlf },
  'CRLF and a byte order mark': { text: (text) => `\uFEFF${crlf(text)}` },
  'no last line end': { text: (text) => text.trimEnd() },
});

/** A clone each, on its embedded database unless it says otherwise. */
export const machineRows: readonly Row[] = [
  ...combine(createMachine, shells, folders, users, clones),
  ...(isRoot ? [single('The user', "one without a name, with a database of one's own", createNameless)] : []),
];

async function createMachine(
  cluster: Cluster,
  { variables = {}, ownDatabase, clone = 'clone', mode = 0o755, data = 'data', user, umask, text }: Machine,
): Promise<Environment> {
  const folder = await createTestDataDirectory(await directoryInMemory());
  const [root, dataDir] = [join(folder, clone), join(folder, data)];
  await mkdir(dirname(root), { recursive: true });
  await mkdir(dirname(dataDir), { recursive: true });
  await rename(await createSourceCopy(copied), root);
  if (text) await rewrite(join(root, 'migrations'), text);
  await chmod(folder, mode);
  if (user) await run('chown', ['-R', '-h', `${user.uid}:${user.gid}`, folder]);
  const own = ownDatabase ? await createEmptyDatabase(cluster) : null;
  const filled = Object.entries(variables).map(([name, value]) => [name, value.replace('$folder', folder)]);
  return inProcesses({
    root,
    variables: { DATA_DIR: dataDir, ...(own && ownDatabase?.(own.variables)), ...Object.fromEntries(filled) },
    ownerUrl: own?.variables.DATABASE_URL,
    options: { ...user, ...(umask && withUmask(umask)) },
    ...(text && { save: text }),
    async remove() {
      await own?.remove();
      await removeTestDataDirectory(dataDir);
      await removeTestDataDirectory(folder);
    },
  });
}

/** PostgreSQL itself runs as a user with a name only. */
function createNameless(cluster: Cluster): Promise<Environment> {
  return createMachine(cluster, { user: { uid: 4242, gid: 4242 }, ownDatabase: (urls) => urls });
}

const copied = [...program, 'test/graphql/schema.graphql', 'test/database/catalogue.sql', 'docs/database.md'];

const withUmask = (umask: string): ProcessOptions => ({
  node: '/bin/sh',
  flags: ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath],
});

async function rewrite(folder: string, change: (text: string) => string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    await chmod(path, 0o644);
    await writeFile(path, change(await readFile(path, 'utf8')));
  }
}

const run = promisify(execFile);
