import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { startMigrated } from '../../src/database/openDatabase.ts';
import type { Log } from '../../src/log.ts';

/**
 * The embedded database with one login role for GraphQL and OAuth, as a database of one's own has without OAUTH_DATABASE_URL. The
 * caller holds the directory's lock.
 */
export async function startWithOneLogin(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  const postgres = await startMigrated(dataDir, log);
  const [authenticator, oauth] = [postgres.authUrl, postgres.oauthUrl].map((url) => new URL(url).username);
  const owner = new Client({ connectionString: postgres.ownerUrl });
  await owner.connect();
  await owner.query(`grant graph_oauth, graph_worker to ${authenticator}`);
  await owner.query(`revoke graph_oauth, graph_worker from ${oauth}`);
  await owner.query(`revoke usage on schema graphile_migrate from ${oauth}`);
  await owner.query(`delete from audit.accepted where kind = 'authenticator_not_named' and object = $1`, [oauth]);
  await owner.end();
  return postgres;
}
