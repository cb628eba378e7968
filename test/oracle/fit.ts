import { validate } from 'graphql';
import { expectedOf, type Question, type Setting } from './ask.ts';
import { TooManyRowsError } from './connection.ts';
import { sizeOfDocument } from './refusals.ts';

/** Whether a document is small enough to be executed, and has few enough rows. */
export function isFit(setting: Setting, question: Question): boolean {
  const { fields, lists, aliases, directives } = sizeOfDocument(question.document);
  if (fields > 300 || lists > 60 || aliases > 50 || directives > 20) return false;
  try {
    expectedOf(setting, question);
    return true;
  } catch (error) {
    if (error instanceof TooManyRowsError) return false;
    throw error;
  }
}

export const isValid = ({ schema }: Setting, { document }: Question): boolean =>
  validate(schema, document).length === 0;
