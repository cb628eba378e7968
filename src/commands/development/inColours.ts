import { styleText } from 'node:util';

/**
 * Colours a report of `npm run dev`: its places, what is wrong, and how the schema has changed.
 * It has no colours unless the stream is a terminal, nor with `NO_COLOR`.
 */
export function inColours(text: string, stream: NodeJS.WritableStream = process.stdout): string {
  return text
    .split('\n')
    .map((line) => {
      const style = styles.find(([pattern]) => pattern.test(line));
      return style ? line.replace(style[0], (part) => styleText(style[1], part, { stream })) : line;
    })
    .join('\n');
}

const styles: readonly (readonly [RegExp, Parameters<typeof styleText>[0]])[] = [
  [/^migrations\/\S+: (?:error: |warning: |info: )?/, 'bold'],
  [/(?<=^ {7}\| *)\^+$/, 'red'],
  [/(?<=^ {2})(?:Help|Hint): .*/, 'cyan'],
  [/^ {2}\+ .*/, 'green'],
  [/^ {2}- .*/, 'red'],
  [/^ {2}~ .*/, 'yellow'],
];
