import { cpus } from 'node:os';
import { Client } from 'pg';

/** In two sentences, what the figures of a run depend on. */
export async function describeMachine(ownerUrl: string): Promise<string> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  const [first, ...others] = cpus();
  const cores = `${others.length + 1} cores of ${first?.model ?? 'an unknown processor'}, shared by all`;
  return `${cores}. PostgreSQL ${rows[0]?.server_version}, Node.js ${process.versions.node}.`;
}
