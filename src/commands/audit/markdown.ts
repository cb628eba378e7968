export type Row = Readonly<Record<string, unknown>>;

/** A table with the rows' keys as its head, or the sentence when there is none. */
export function table(rows: readonly Row[], otherwise: string): string {
  const [first] = rows;
  if (!first) return otherwise;
  const head = Object.keys(first);
  return [head, head.map(() => '---'), ...rows.map((row) => head.map((name) => cell(row[name])))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Joins titles and the parts below them by empty lines. */
export const document = (...parts: readonly string[]): string => parts.join('\n\n');

/** One line, with Markdown's own characters escaped. */
function cell(value: unknown): string {
  return text(value)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\|<>`*]/g, (character) => `\\${character}`);
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(text).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
