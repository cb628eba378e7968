import { readFile, writeFile } from 'node:fs/promises';
import type { Digested, Judgement, Options, Prover } from 'rls-prover';
import { StartupError } from '../../../errors/errors.ts';
import { loadProver } from './loadProver.ts';

/**
 * Proves what depends on what has changed since the run that wrote a file, and writes this run's judgements there.
 * Without the file it proves everything.
 *
 * @throws {StartupError} when the file is not of this command
 */
export async function proveAgain(options: Options, path: string, prover: Prover): Promise<Judgement[]> {
  const { proveChanged } = await loadProver();
  const judgements = await proveChanged(options, await readJudgements(path), prover);
  await writeFile(path, `${JSON.stringify(judgements, null, 1)}\n`);
  return judgements;
}

async function readJudgements(path: string): Promise<Digested[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw new StartupError(`${path} cannot be read: ${error.message}`, { cause: error });
  });
  try {
    const judgements: unknown = JSON.parse(text);
    if (Array.isArray(judgements) && judgements.every((one) => typeof one?.digest !== 'undefined')) return judgements;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw new StartupError(`${path} is not what \`prove --changed\` wrote; delete it, or name another file.`);
}
