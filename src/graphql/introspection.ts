import { LRUCache } from 'lru-cache';
import { type DocumentNode, Kind, type SelectionSetNode } from 'postgraphile/graphql';
import { bytesOfCharacter, DocumentRefused, type PreparedDocument } from './document.ts';
import { graphqlError } from './errors.ts';
import type { Answer } from './execution.ts';

/** Whether the operation asks for the schema and nothing else (`__schema`, `__type`). */
export function isIntrospection(prepared: PreparedDocument): boolean {
  const names = rootFieldsOf(prepared);
  const isMeta = names.every((name) => ['__schema', '__type', '__typename'].includes(name));
  return prepared.operation.operation === 'query' && isMeta && names.some((name) => name !== '__typename');
}

/** How often an operation without a token may ask for each: one complete introspection, or what an editor looks up. */
const mostWithoutToken = { __schema: 1, __type: 10 };

/** @throws {DocumentRefused} when it asks more often than {@link mostWithoutToken} */
export function boundIntrospection(prepared: PreparedDocument): void {
  const names = rootFieldsOf(prepared);
  for (const [name, most] of Object.entries(mostWithoutToken)) {
    if (names.filter((other) => other === name).length <= most) continue;
    const message = `Without a token an operation asks for ${name} at most ${most === 1 ? 'once' : `${most} times`}; send one.`;
    throw new DocumentRefused([graphqlError('LIMIT_EXCEEDED', message, { limit: 'aliases' })]);
  }
}

/** The names of the operation's root fields, wherever they stand; those of a fragment once. */
function rootFieldsOf({ operation, fragments }: PreparedDocument): string[] {
  const seen = new Set<string>();
  const namesIn = ({ selections }: SelectionSetNode): string[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return namesIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      if (!fragment || seen.has(selection.name.value)) return [];
      seen.add(selection.name.value);
      return namesIn(fragment.selectionSet);
    });
  return namesIn(operation.selectionSet);
}

/** What remembered answers and their documents may take; a complete answer has some hundred thousand characters. */
const rememberedBytes = 8_000_000;

/** Remembers the answers of documents that are introspection alone, without variables: of one schema they are always the same. */
export function rememberIntrospection() {
  const known = new LRUCache<DocumentNode, Answer>({ maxSize: rememberedBytes });

  return async (prepared: PreparedDocument, execute: () => Promise<Answer>): Promise<Answer> => {
    const { document, operation } = prepared;
    const isConstant = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1;
    if (!isConstant || operation.variableDefinitions?.length || !isIntrospection(prepared)) return execute();
    const remembered = known.get(document);
    if (remembered) return remembered;
    const answer = await execute();
    if (answer.status === 200 && !answer.facts?.code) {
      // Its tree is kept along.
      const size = answer.body.length + bytesOfCharacter * prepared.query.length;
      known.set(document, { ...answer, facts: { statements: 0 } }, { size });
    }
    return answer;
  };
}
