import { blocksOf, notRun } from '../../test/docs/pages.ts';

/** A statement that answers a question, and the changes that it is about. */
export type Question = { readonly name: string; readonly changes: readonly string[]; readonly statement: string };

/**
 * What an auditor asks: the statements of the numbered questions of docs/auditing-access.md, as they stand there.
 * They name the demo's rows, and so does `buildHistory`. A command answers question 6.
 */
export async function readQuestions(): Promise<readonly Question[]> {
  const questions: Question[] = [];
  const changes = new Map<string, string[]>();
  const blocks = (await blocksOf('docs/auditing-access.md')).filter(
    (block) => block.language === 'sql' && /^\d/.test(block.heading) && !notRun(block),
  );
  for (const { heading, text } of blocks) {
    const before = changes.get(heading) ?? [];
    if (/^(update|delete)\b/.test(text)) changes.set(heading, [...before, text]);
    if (!/^(select|with)\b/.test(text)) continue;
    const nth = questions.filter(({ name }) => name.startsWith(heading)).length;
    questions.push({ name: nth > 0 ? `${heading} (${nth + 1})` : heading, changes: before, statement: text });
  }
  return questions;
}
