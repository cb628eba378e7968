import { print } from 'graphql';
import type { Outcome } from './ask.ts';
import type { Finding } from './search.ts';

/** What kind of fault it is, so that shrinking does not lead to another one. */
export function kindOf({ wrong }: Outcome): string {
  if (!wrong) return 'none';
  const codes = wrong.text.match(/"code":"(\w+)"/g) ?? [];
  if (codes.some((code) => code.includes('INTERNAL'))) return 'INTERNAL';
  return wrong.where.startsWith('data') ? 'data' : wrong.where;
}

/** A finding as it can be pasted into a test. */
export function tell({ question, outcome, setting, number }: Finding, seed: number): string {
  const { signed, variables, document } = question;
  const { wrong } = outcome;
  const rows = Object.entries(setting.rows).map(([name, all]) => `${name}: ${all.length}`);
  return [
    `Document ${number} of SEED=${seed} is answered wrong ${wrong?.way}, asked by ${signed.name} (${JSON.stringify(signed.caller)}):`,
    print(document),
    `variables: ${JSON.stringify(variables[0])}`,
    `other variables: ${JSON.stringify(variables[1])}`,
    `where: ${wrong?.where}`,
    `expected: ${JSON.stringify(wrong?.expected)}`,
    `got: ${JSON.stringify(wrong?.got)}`,
    `answer: ${wrong?.text.slice(0, 2000)}`,
    `rows: ${rows.join(', ')}`,
  ].join('\n');
}
