import { readFile } from 'node:fs/promises';
import type { Pool } from 'pg';

/** A statement as the service sent it. */
export type Statement = { text: string; values: (string | null)[] };

/**
 * Lets PostgreSQL write every statement of the authenticator into its log, parameters included, whichever thread or driver
 * sends it. Holds for connections that are opened afterwards.
 */
export async function startCapture(owner: Pool, authenticator: string): Promise<void> {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_format': 'json',
    'auto_explain.log_parameter_max_length': '-1',
  };
  for (const [name, value] of Object.entries(settings)) {
    await owner.query(`alter role ${authenticator} set ${name} = '${value}'`);
  }
}

export async function stopCapture(owner: Pool, authenticator: string): Promise<void> {
  await owner.query(`alter role ${authenticator} reset all`);
}

/** The statements that read the graph, as the service sent them while `work` ran. */
export async function capture(logFile: string, work: () => Promise<void>): Promise<Statement[]> {
  const before = (await readFile(logFile, 'utf8')).length;
  await work();
  const log = (await readFile(logFile, 'utf8')).slice(before);
  const plans = log.matchAll(/duration: [\d.]+ ms {2}plan:\n\t?(\{[\s\S]*?\n\t?\})/g);
  return [...plans]
    .map(([, json = '']) => JSON.parse(json.replaceAll('\n\t', '\n')) as Record<string, string>)
    .map((plan) => ({ text: plan['Query Text'] ?? '', values: parseParameters(plan['Query Parameters'] ?? '') }))
    .filter(({ text }) => /\bapp_public\b/.test(text));
}

/** `$1 = '20', $2 = NULL`; a quote inside a value is doubled. */
function parseParameters(text: string): (string | null)[] {
  return [...text.matchAll(/\$\d+ = (?:NULL|'((?:[^']|'')*)')/g)].map(
    ([, value]) => value?.replaceAll("''", "'") ?? null,
  );
}
