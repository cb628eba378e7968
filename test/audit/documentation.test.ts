import { readFile, writeFile } from 'node:fs/promises';
import { table } from '../../src/commands/audit/markdown.ts';
import { createTestDatabase } from '../support/database.ts';
import { company, insertCompany } from './support.ts';

const page = new URL('../../docs/auditing-access.md', import.meta.url);

/** A statement and the table that follows it. */
const answered = /```sql\n(.*?)```\n\n(TABLE\n|(?:\|[^\n]*\n)+)/gs;

/** Renewed by UPDATE_GOLDEN=1, and reviewed. */
test('the statements of the page about auditing answer as it says', async () => {
  const database = await createTestDatabase();
  await insertCompany(database.owner);
  await database.owner.query(`update app_public.users set full_name = 'Grace Hopper' where id = '${company.grace}'`);
  const text = await readFile(page, 'utf8');

  const answers = new Map<string, string>();
  for (const [, statement = ''] of text.matchAll(answered)) {
    const { rows } = await database.owner.query(statement);
    answers.set(statement, `${table(rows, 'Nothing.')}\n`);
  }
  await database.drop();
  if (process.env.UPDATE_GOLDEN) {
    const renewed = text.replaceAll(
      answered,
      (_, statement: string) => `\`\`\`sql\n${statement}\`\`\`\n\n${answers.get(statement)}`,
    );
    await writeFile(page, renewed);
  }

  const expected = (await readFile(page, 'utf8')).matchAll(answered);
  expect(answers.size).toBe(5);
  for (const [, statement = '', answer] of expected)
    expect({ statement, answer: answers.get(statement) }).toEqual({ statement, answer });
});
