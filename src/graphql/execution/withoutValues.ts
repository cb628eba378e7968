import { type DocumentNode, Kind, print, visit } from 'postgraphile/graphql';

/** A readable length of a log line. */
const maxCharacters = 4000;

/** Redaction: only the document's names, no literal, default, comment or client-chosen alias. */
export function documentWithoutValues(document: DocumentNode): string {
  const outline = visit(document, {
    Field: ({ alias: _alias, ...field }) => field,
    VariableDefinition: ({ defaultValue: _value, ...definition }) => definition,
    Argument: (argument) => ({ ...argument, value: argument.value.kind === Kind.VARIABLE ? argument.value : blank }),
  });
  return shortened(print(outline).replace(/\s+/g, ' '));
}

const blank = { kind: Kind.ENUM, value: '_' } as const;

/** Redaction: SQL, or a plan of it, with `?` for each literal; parameters keep their numbers. */
export function sqlWithoutValues(sql: string): string {
  return shortened(
    sql
      .replace(tokens, (token, literal) => (literal === undefined ? token : '?'))
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/**
 * Names, parameters and parts of a plan, which stay; then literals: texts and numbers.
 * Dollar-quoted texts and a text without an end match, too.
 */
const tokens =
  /"(?:[^"]|"")*"|\$\d+|\b(?:Init|Sub)Plan \d+|\b(?!e')[a-z_]\w*|(e?'(?:[^'\\]|''|\\.)*(?:'|$)|\$(\w*)\$[\s\S]*?(?:\$\2\$|$)|\d[\d.]*(?:e[+-]?\d+)?)/gi;

const shortened = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text);
