import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config.ts';
import { describeVariables } from '../../src/variables.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const read = (path: string) => readFile(join(root, path), 'utf8');

/** Every document of a YAML file, with its anchors and merges resolved. */
export async function readYaml<T>(path: string): Promise<T[]> {
  const documents = parseAllDocuments(await read(path), { merge: true, uniqueKeys: true });
  if (!Array.isArray(documents)) throw new Error(`${path} is empty.`);
  return documents.map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors.join('\n')}`);
    return document.toJS() as T;
  });
}

/** The one document of a YAML file. */
export async function readOnlyYaml<T>(path: string): Promise<T> {
  const documents = await readYaml<T>(path);
  expect(documents).toHaveLength(1);
  return documents[0] as T;
}

/** The settings that the program makes of this environment, every variable of which it must know. */
export function configOf(environment: Record<string, string>, command: 'serve' | 'migrate') {
  const known = describeVariables().map(({ name }) => name);
  expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
  return loadConfig(environment, command);
}

export const anySecretKey = Buffer.alloc(32, 7).toString('base64');

/** The variables before `exec node` in `npm start`, and the flags and the file behind it. */
export async function startCommand(): Promise<{ variables: string[]; args: string[] }> {
  const { scripts } = JSON.parse(await read('package.json'));
  const words: string[] = scripts.start.split(' ');
  const exec = words.indexOf('exec');
  expect(words[exec + 1]).toBe('node');
  return { variables: words.slice(0, exec), args: words.slice(exec + 2) };
}
