import { relative } from 'node:path';
import { withClient } from '../../database/pool/withClient.ts';
import { lineOf } from './lineOf.ts';
import { currentFile } from './migrations.ts';

/** A row of `audit.findings`: an ignored comment, an open policy, an invitation to a mistake. */
export type Finding = {
  readonly name: string;
  readonly level: 'error' | 'warning' | 'info';
  readonly object: string;
  readonly detail: string;
  readonly remedy: string;
};

export const readFindings = (ownerUrl: string): Promise<Finding[]> =>
  withClient(ownerUrl, async (client) => {
    // Views of the catalogue look costly to PostgreSQL, which would compile them for longer than they take.
    await client.query('set jit = off');
    const { rows } = await client.query<Finding>(
      'select name, level, object, detail, remedy from audit.findings order by level, object, name, detail',
    );
    return rows;
  });

/** Roles of the cluster and rights to the database are `db:migrate`'s, unless `text` names a role. */
export const isOfCluster = ({ name }: Finding, text: string) =>
  name.startsWith('authenticator_') ||
  name === 'connect_for_everybody' ||
  (name === 'bypass_set_role' && !/\b(grant|role|user|group)\b/i.test(text));

/** Those that were not there before. */
export function newFindings(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const known = new Set(before.map(keyOf));
  return after.filter((finding) => !known.has(keyOf(finding)));
}

const keyOf = ({ name, object, detail }: Finding) => JSON.stringify([name, object, detail]);

/** One line each, which begins with the place in `migrations/current.sql` where that says it. */
export async function describeFindings(findings: readonly Finding[], text: string): Promise<string[]> {
  return Promise.all(
    findings.map(async ({ name, level, object, detail, remedy }) => {
      // A file that PostgreSQL has run is one that its parser understands, but for placeholders.
      const line = await lineOf(text, object, tagsIn(detail)).catch(() => null);
      return `${placeAt(line)}${level}: ${object} ${detail} (${name}). ${remedy}`;
    }),
  );
}

/** Why a schema cannot be built, with the place in `migrations/current.sql` of what the reason quotes. */
export async function describeBuildError(error: unknown, text: string): Promise<string> {
  const message = error instanceof Error ? error.message : String(error);
  const quoted = [...message.matchAll(/\{\w+\}|"(@[^"]+)"/g)].map(([whole, inner]) => inner ?? whole);
  const index = quoted.map((words) => text.indexOf(words)).find((found) => found >= 0);
  const line = index === undefined ? null : text.slice(0, index).split('\n').length;
  return `${placeAt(line)}The schema cannot be built: ${message}`;
}

const placeAt = (line: number | null) => (line === null ? '' : `${relative(process.cwd(), currentFile)}:${line}: `);

/** A smart tag with what follows it, else alone. */
function tagsIn(detail: string): string[] {
  const [whole] = /@\w+(?: \{[^{}]*\})?(?: \w+)?/.exec(detail) ?? [];
  const [tag] = /@\w+/.exec(detail) ?? [];
  return whole && tag ? [whole, tag] : [];
}
