import type { GraphQLError } from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import { limitMeaning } from '../../variables.ts';

type Limit = keyof Config['limits'];

/** The refusal of a request that exceeds a limit: it says how much is allowed, and what to ask for instead. */
export function limitExceeded(limit: Limit, max: number): GraphQLError {
  const allowed = limitMeaning(limit).replace(
    /^Most (.*) that (an?) (\w+) may (\w+)\..*/,
    (_, what: string, article: string, subject: string, verb: string) =>
      `${article === 'an' ? 'An' : 'A'} ${subject} may ${verb} at most ${max.toLocaleString('en')} ${what}`,
  );
  return refusal('LIMIT_EXCEEDED', `${allowed}: ${advice[limit]}.`, { limit });
}

/** The remedy for a client; the table of docs/for-a-client.md has the same. */
export const advice: Readonly<Record<Limit, string>> = {
  body: 'send fewer rows of a sync at once',
  document: 'put values into variables',
  tokens: 'use fragments, or split the document',
  depth: 'ask for a deep tree in parts',
  aliases: 'filter by ids or externalIdentifiers',
  rootFields: 'use a sync instead of many mutations',
  directives: 'split the document',
  fields: 'split the document; a fragment counts each time that it is used',
  connections: 'split the document',
  rows: 'ask for smaller pages, since nested pages multiply',
  bytes: 'ask for smaller pages or fewer fields',
};
