import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { escapeLiteral } from 'pg';
import { until } from './until.ts';

/** The certificate that {@link serveTls} has a server show, of `localhost` and `127.0.0.1`. */
export const certificateFile = fileURLToPath(new URL('./tls/server.crt', import.meta.url));

/**
 * Turns TLS on. The server writes the files itself, into its data directory: PostgreSQL takes no key that another user may read.
 *
 * @param ask runs one statement as a superuser
 */
export async function serveTls(ask: (statement: string) => Promise<Record<string, unknown>[]>): Promise<void> {
  for (const name of ['server.crt', 'server.key']) {
    const text = await readFile(new URL(`./tls/${name}`, import.meta.url), 'utf8');
    await ask(
      `copy (select unnest(string_to_array(${escapeLiteral(text.trim())}, E'\\n'))) to program 'cat > ${name}'`,
    );
  }
  await ask('alter system set ssl = on');
  await ask('select pg_reload_conf()');
  await until(async () => (await ask('show ssl'))[0]?.ssl === 'on');
}
