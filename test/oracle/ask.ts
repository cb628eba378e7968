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
  /** The two organizations'. */
  readonly cursors: readonly [Cursors, Cursors];
  readonly compiling: Service;
  readonly uncompiled: Service;
};

export type Question = {
  readonly document: DocumentNode;
  /** At least one set, in the order in which they are given. */
  readonly variables: readonly Variables[];
  readonly signed: Signed;
};

/** An answer that was not what it must be, and the way in which it was asked for. */
export type Wrong = Difference & Way & { readonly given: Variables; readonly text: string };

type Way = { readonly way: string; readonly set: number; readonly isCompiling: boolean };

export type Outcome = { readonly expected: readonly Answer[]; readonly wrong: Wrong | null };

/** The ways in which a document is asked: the second time it is compiled, and other variables meet what was made for the first. */
function waysOf({ variables }: Question): readonly Way[] {
  const others = variables.slice(1).map((_, index) => index + 1);
  const compiling = (way: string, set: number): Way => ({ way, set, isCompiling: true });
  const uncompiled = (set: number): Way => ({ way: 'without compilation', set, isCompiling: false });
  return [
    compiling('cold', 0),
    compiling('again', 0),
    ...others.map((set) => compiling('with other variables', set)),
    compiling('with the first variables again', 0),
    uncompiled(0),
    ...others.slice(0, 1).map(uncompiled),
  ];
}

/** What must be answered with each set of variables. */
export function expectedOf({ schema, rows, cursors }: Setting, { document, variables, signed }: Question): Answer[] {
  const asked = { rows, caller: signed.caller, cursors: seenBy(signed, cursors) };
  return variables.map((set) => answerOf(schema, document, set, asked));
}

/** Asks in each way, or cold alone, until an answer differs from the oracle's. */
export async function ask(setting: Setting, question: Question, isColdAlone = false): Promise<Outcome> {
  const { document, variables, signed } = question;
  const expected = expectedOf(setting, question);
  const [cursors] = seenBy(signed, setting.cursors);
  const text = print(document);
  for (const way of waysOf(question).slice(0, isColdAlone ? 1 : undefined)) {
    const service = way.isCompiling ? setting.compiling : setting.uncompiled;
    const given = variables[way.set] ?? {};
    const got = await service.ask(signed.token, text, given);
    const difference = differenceOf(expected[way.set] as Answer, got, cursors);
    if (difference) return { expected, wrong: { ...difference, ...way, given, text: got.text } };
  }
  return { expected, wrong: null };
}

/** The own organization's first. */
function seenBy({ caller }: Signed, [first, second]: Setting['cursors']): Setting['cursors'] {
  return caller.organizationId === first.organizationId ? [first, second] : [second, first];
}
