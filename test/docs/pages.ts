import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page, with the heading above it. */
export type Block = {
  readonly page: string;
  readonly heading: string;
  readonly language: string;
  readonly text: string;
};

/** Every page for readers, as paths from the root. */
export async function pagesOf(): Promise<string[]> {
  const found = await Array.fromAsync(glob('{*,docs/*,deploy/*,packages/*/*}.md', { cwd: root }));
  return found.toSorted();
}

export const readPage = (page: string): Promise<string> => readFile(join(root, page), 'utf8');

export async function blocksOf(page: string): Promise<Block[]> {
  let heading = '';
  const blocks: Block[] = [];
  for (const [, title, language = '', text = ''] of (await readPage(page)).matchAll(headingOrBlock)) {
    if (title === undefined) blocks.push({ page, heading, language, text });
    else heading = title;
  }
  return blocks;
}

const headingOrBlock = /^#+ (.*)$|^```(\w*)\n([\s\S]*?)^```$/gm;

/** How a block says that no test runs it, in its first line, for its reader to see. */
export const notRun = ({ text }: Block): string | undefined => /^(?:#|--) Not run by a test: (.+)$/m.exec(text)?.[1];
