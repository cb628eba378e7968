import { validate } from 'graphql';
import type { Question, Setting } from './ask.ts';
import { sizeOfDocument } from './refusals.ts';

/** Whether a document is valid and small enough to be executed. */
export function isFit({ schema }: Setting, { document }: Question): boolean {
  const { fields, lists, aliases, directives } = sizeOfDocument(document);
  return fields < 300 && lists < 60 && aliases <= 50 && directives <= 20 && validate(schema, document).length === 0;
}
