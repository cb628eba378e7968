import { LRUCache } from 'lru-cache';
import { type DocumentNode, Kind, type SelectionSetNode } from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import { bytesOfCharacter, type PreparedDocument } from '../document/document.ts';
import { DocumentError } from '../document/documentError.ts';
import type { Answer } from './answer.ts';

/** Whether the operation is introspection alone (`__schema`, `__type`). */
export function isIntrospection(prepared: PreparedDocument): boolean {
  const names = rootFieldsOf(prepared);
  const isMeta = names.every((name) => ['__schema', '__type', '__typename'].includes(name));
  return prepared.operation.operation === 'query' && isMeta && names.some((name) => name !== '__typename');
}

/** How many of each an operation without a token may have: one introspection, or an editor's look-ups. */
const maxWithoutToken = { __schema: 1, __type: 10 };

/** @throws {DocumentError} when it has more than {@link maxWithoutToken} */
export function limitIntrospection(prepared: PreparedDocument): void {
  const names = rootFieldsOf(prepared);
  for (const [name, max] of Object.entries(maxWithoutToken)) {
    if (names.filter((other) => other === name).length <= max) continue;
    const message = `Without a token an operation asks for ${name} at most ${max === 1 ? 'once' : `${max} times`}; send one.`;
    throw new DocumentError([refusal('LIMIT_EXCEEDED', message, { limit: 'aliases' })]);
  }
}

/** The names of the operation's root fields, including those in fragments; a fragment counts once. */
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

/** The memory limit of cached answers and documents; a complete answer has some 100,000 characters. */
const cacheBytes = 8_000_000;

/** Response cache of introspection without variables: with one schema these answers are constant. */
export function createIntrospectionCache() {
  const known = new LRUCache<DocumentNode, Answer>({ maxSize: cacheBytes });

  return async (prepared: PreparedDocument, execute: () => Promise<Answer>): Promise<Answer> => {
    if (!isIntrospection(prepared)) return execute();
    const { document, operation } = prepared;
    const isConstant = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1;
    if (!isConstant || operation.variableDefinitions?.length) return execute();
    const remembered = known.get(document);
    if (remembered) return remembered;
    const answer = await execute();
    if (answer.status === 200 && !answer.fields?.code) {
      // The cache also keeps the document's tree.
      const size = answer.body.length + bytesOfCharacter * prepared.query.length;
      known.set(document, { ...answer, fields: { statements: 0 } }, { size });
    }
    return answer;
  };
}
