import type { DocumentNode, GraphQLSchema } from 'graphql';
import { print } from 'graphql';
import { type Answer, answerOf, type Variables } from './answer.ts';
import { type Difference, differenceOf } from './compare.ts';
import type { Cursors } from './cursors.ts';
import type { Rows } from './rows.ts';
import type { Service } from './service.ts';
import type { Signed } from './world/callers.ts';

/** What documents are asked in: the rows, and the same database by two services. */
export type Setting = {
  readonly schema: GraphQLSchema;
  readonly rows: Rows;
  readonly cursors: readonly Cursors[];
  readonly compiling: Service;
  readonly uncompiled: Service;
};

export type Question = {
  readonly document: DocumentNode;
  readonly variables: readonly [Variables, Variables];
  readonly signed: Signed;
};

/** One way in which the answer was not what it must be. */
export type Wrong = Difference & { readonly way: string; readonly variables: Variables; readonly text: string };

export type Outcome = { readonly expected: readonly [Answer, Answer]; readonly wrong: Wrong | null };

/**
 * Asks cold, again, with the other variables, with the first ones again, and a service that compiles nothing; stops at the first answer
 * that differs from the oracle's.
 */
export async function ask(setting: Setting, { document, variables, signed }: Question): Promise<Outcome> {
  const { schema, rows, cursors: all, compiling, uncompiled } = setting;
  const [own, ...others] = all;
  if (!own) throw new Error('An organization has cursors.');
  const cursors = signed.name.endsWith('next door') ? [...others, own] : all;
  const [first, second] = variables;
  const expect = (values: Variables) => answerOf(schema, document, values, { rows, caller: signed.caller, cursors });
  const expected = [expect(first), expect(second)] as const;
  const text = print(document);

  const ways: readonly (readonly [string, Service, 0 | 1])[] = [
    ['cold', compiling, 0],
    ['again', compiling, 0],
    ['with other variables', compiling, 1],
    ['with the first variables again', compiling, 0],
    ['without compilation', uncompiled, 0],
  ];
  for (const [way, service, set] of ways) {
    const got = await service.ask(signed.token, text, variables[set]);
    const difference = differenceOf(expected[set], got, cursors[0] ?? own);
    if (difference) return { expected, wrong: { ...difference, way, variables: variables[set], text: got.text } };
  }
  return { expected, wrong: null };
}
