import { spawn } from 'node:child_process';
import type { Demo } from '../support/demo.ts';
import { type Block, root } from './pages.ts';

/** The output of a block. */
export type Printed = { readonly block: Block; readonly output: string };

/**
 * Pastes the `sh` and `js` blocks of a page into one shell, in their order, where only the demo's data directory is replaced:
 * its port is another one at each run. Ends at the first command that fails.
 *
 * @param answer is what a person types when a block reads a line, by what was printed so far
 */
export async function runPage(
  blocks: readonly Block[],
  { dataDir }: Demo,
  environment: Record<string, string>,
  answer: (printed: string) => Promise<string | null> = async () => null,
): Promise<Printed[]> {
  const script = [
    'set -euo pipefail',
    ...(blocks.some(({ page }) => page === 'README.md') ? [] : [tokenWithoutNpm]),
    ...blocks.map(({ language, text }) => `${commandOf(language, text)}\necho '${mark}'`),
  ]
    .join('\n')
    .replaceAll('./.data/', `${dataDir}/`);
  const shell = spawn('bash', ['-c', script], { cwd: root, env: { ...environment, DATA_DIR: dataDir } });
  let output = '';
  let errors = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  let typed: string | null = null;
  for await (const text of shell.stdout.setEncoding('utf8')) {
    output += text;
    if (typed !== null) continue;
    typed = await answer(output);
    if (typed !== null) shell.stdin.write(`${typed}\n`);
  }
  const printed = output.split(`${mark}\n`);
  if (printed.length !== blocks.length + 1)
    throw new Error(`${blocks[printed.length - 1]?.text}\nfailed: ${printed.at(-1)}${errors}`);
  return blocks.map((block, at) => ({ block, output: printed[at] ?? '' }));
}

/** npm takes as long to start as the command. The README is pasted with npm itself. */
const tokenWithoutNpm = `npm() {
  if [ "$1 $2 $3" = 'run -s token' ]; then shift 3; NODE_COMPILE_CACHE=node_modules/.cache/node node src/main.ts token "$@"; else command npm "$@"; fi
}`;

const mark = '== the block has ended ==';

const commandOf = (language: string, text: string) =>
  language === 'js' ? `node --input-type=module - <<'END OF MODULE'\n${text}END OF MODULE` : text;

/** Whether the output is what the page shows, white space apart; `…` stands for anything. */
export function shows(shown: string, output: string): boolean {
  const parts = shown.split('…').map((part) => RegExp.escape(part.replaceAll(/\s+/g, '')));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(output.replaceAll(/\s+/g, ''));
}
