import { relative } from 'node:path';
import { withClient } from '../../database/pool/transactions.ts';
import { describeFailure, SchemaError } from '../../errors/errors.ts';
import { lineOf } from './lineOf.ts';
import { currentFile } from './migrations.ts';
import { sourceOf } from './sqlFileError.ts';

/** A row of `audit.findings`, such as an ignored comment, an open policy or a trap for developers. */
export type Finding = {
  readonly name: string;
  readonly level: 'error' | 'warning' | 'info';
  readonly object: string;
  readonly detail: string;
  readonly remedy: string;
};

export const readFindings = (ownerUrl: string): Promise<Finding[]> =>
  withClient(ownerUrl, async (client) => {
    // PostgreSQL estimates a high cost for views of the catalogue, and would compile them for longer than they run.
    await client.query('set jit = off');
    const { rows } = await client.query<Finding>(
      'select name, level, object, detail, remedy from audit.findings order by level, object, name, detail',
    );
    return rows;
  });

/** Whether `db:migrate` is responsible: a role or a right to the database that `text` does not name. */
export const isOfCluster = ({ name }: Finding, text: string) =>
  name.startsWith('authenticator_') ||
  name === 'connect_for_everybody' ||
  (name === 'bypass_set_role' && !/\b(grant|role|user|group)\b/i.test(text));

/** The findings that did not exist before. */
export function newFindings(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const known = new Set(before.map(findingKey));
  return after.filter((finding) => !known.has(findingKey(finding)));
}

const findingKey = ({ name, object, detail }: Finding) => JSON.stringify([name, object, detail]);

/** A line for each finding, with its place in `migrations/current.sql` in front and its source below, if it has one. */
export async function describeFindings(findings: readonly Finding[], text: string): Promise<string[]> {
  return Promise.all(
    findings.map(async ({ name, level, object, detail, remedy }) => {
      // PostgreSQL has run the file, so its parser understands it, except for placeholders.
      const line = await lineOf(text, object, tagsIn(detail)).catch(() => null);
      return withSource(`${placeAt(line)}${level}: ${object} ${detail} (${name}). ${remedy}`, text, line);
    }),
  );
}

/** The reason why a schema cannot be built, with the place in `migrations/current.sql` of what it names or quotes. */
export async function describeBuildError(error: unknown, text: string): Promise<string> {
  const message =
    error instanceof SchemaError ? error.message : `The schema cannot be built: ${describeFailure(error)}`;
  const quoted = [...message.matchAll(/\{\w+\}|"(@[^"]+)"/g)].map(([whole, inner]) => inner ?? whole);
  const index = quoted.map((words) => text.indexOf(words)).find((found) => found >= 0);
  const objects = error instanceof SchemaError ? error.objects : [];
  const line = index === undefined ? await firstLineOf(text, objects) : text.slice(0, index).split('\n').length;
  return withSource(`${placeAt(line)}${message}`, text, line);
}

async function firstLineOf(text: string, objects: readonly string[]): Promise<number | null> {
  for (const object of objects) {
    const line = await lineOf(text, object).catch(() => null);
    if (line !== null) return line;
  }
  return null;
}

/** Below the first line of a message, the line of the migration that it names. */
function withSource(message: string, text: string, line: number | null): string {
  const [first = '', ...others] = message.split('\n');
  return [first, ...(line === null ? [] : sourceOf(text, line)), ...others].join('\n');
}

const placeAt = (line: number | null) => (line === null ? '' : `${relative(process.cwd(), currentFile)}:${line}: `);

/** The smart tag with the words that follow it, then alone. */
function tagsIn(detail: string): string[] {
  const [whole] = /@\w+(?: \{[^{}]*\})?(?: \w+)?/.exec(detail) ?? [];
  const [tag] = /@\w+/.exec(detail) ?? [];
  return whole && tag ? [whole, tag] : [];
}
