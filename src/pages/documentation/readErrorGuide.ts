import { readFile } from 'node:fs/promises';

/** The sections of the guide to errors, each with a paragraph for each code. */
export type ErrorGuide = readonly {
  readonly title: string;
  readonly paragraphs: readonly { readonly code: string; readonly text: string }[];
}[];

/**
 * The paragraphs of `docs/errors.md`, so that the page and the document say the same.
 * Links to other documents become plain text, since the service does not serve these.
 */
export async function readErrorGuide(): Promise<ErrorGuide> {
  const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  return page
    .split(/^## /m)
    .map((section) => {
      const [title = '', ...parts] = section.split(/^### /m);
      const paragraphs = parts.map((part) => {
        const [code = '', ...text] = part.split('\n');
        return { code, text: toText(text.join('\n').trim()) };
      });
      return { title: title.split('\n', 1)[0] ?? '', paragraphs };
    })
    .filter(({ paragraphs }) => paragraphs.length > 0);
}

const toText = (markdown: string) =>
  markdown.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1').replaceAll('\n**Do**', '\n\n**Do**');
