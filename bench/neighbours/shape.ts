import { worstDocuments } from '../data/worstDocuments.ts';
import type { Manner } from './createSender.ts';

/** A request that one caller repeats. */
export type Shape = {
  /** Without one it is a stranger. */
  readonly hasToken: boolean;
  /** 16 unless said. */
  readonly connections?: number;
  readonly manner?: Manner;
  /** New for each number. */
  readonly write: (number: number, known: Known) => Written;
};

/** The data of a caller: the ids of 1,000 users, and a cursor early in the feed. */
export type Known = { readonly ids: readonly string[]; readonly cursor: string };

/** A GraphQL request, by its parts or as JSON; a request to another endpoint; or a form for the token endpoint. */
export type Written =
  | {
      readonly query: string;
      readonly variables?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly body: string }
  | { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly form: Readonly<Record<string, string>> };

export const asked = (query: (number: number, known: Known) => string): Shape => ({
  hasToken: true,
  write: (number, known) => ({ query: query(number, known) }),
});

/** With variables or headers. */
export const sent = (write: Shape['write'], manner: Manner = 'as a client does'): Shape => ({
  hasToken: true,
  manner,
  write,
});

export const anonymous = (query: (number: number) => string): Shape => ({
  ...asked((number) => query(number)),
  hasToken: false,
});

export const streams = (selection: string): Shape => ({
  ...asked((n, { cursor }) => `subscription Q${n} { changes(after: "${cursor}") { ${selection} } }`),
  connections: 50,
});

/** A worst document by its name. @throws when there is none */
export function worst(name: string): Shape {
  const write = worstDocuments[name];
  if (!write) throw new Error(`There is no document "${name}".`);
  return asked(write);
}
