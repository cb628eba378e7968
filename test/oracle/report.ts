import { print } from 'graphql';
import type { Outcome } from './ask.ts';
import type { Rows } from './rows.ts';
import type { Finding } from './search.ts';

/** What kind of fault it is, so that shrinking does not lead to another one. */
export function kindOf({ wrong }: Outcome): string {
  if (!wrong) return 'none';
  const codes = wrong.text.match(/"code":"(\w+)"/g) ?? [];
  if (codes.some((code) => code.includes('INTERNAL'))) return 'INTERNAL';
  return wrong.where.startsWith('data') ? 'data' : wrong.where;
}

/** A finding as it can be pasted into a test: the document, its variables, who asked, the rows, and both answers. */
export function tell({ question, outcome, setting, number }: Finding, seed: number): string {
  const { signed, variables, document } = question;
  const { wrong } = outcome;
  return [
    `Document ${number} of SEED=${seed} is answered wrong ${wrong?.way}, asked by ${signed.name}:`,
    print(document),
    `caller: ${JSON.stringify(signed.caller)}`,
    ...variables.map((set, index) => `variables ${index + 1}: ${JSON.stringify(set)}`),
    `answered wrong: variables ${(wrong?.set ?? 0) + 1}`,
    `where: ${wrong?.where}`,
    `expected: ${JSON.stringify(wrong?.expected)}`,
    `got: ${JSON.stringify(wrong?.got)}`,
    `answer: ${wrong?.text.slice(0, 2000)}`,
    `rows:\n${tellRows(setting.rows, signed.caller.organizationId)}`,
  ].join('\n');
}

/** Of the caller's organization all, when they are few; of the others how many. */
function tellRows(rows: Rows, organizationId: string): string {
  return Object.entries(rows)
    .map(([name, all]: [string, readonly object[]]) => {
      const own = all.filter((row) => 'organizationId' in row && row.organizationId === organizationId);
      const counts = `${own.length} and ${all.length - own.length} elsewhere`;
      return own.length > 12 || own.length === 0
        ? `  ${name}: ${counts}`
        : `  ${name}: ${counts}\n${own.map((row) => `    ${JSON.stringify(row)}`).join('\n')}`;
    })
    .join('\n');
}
