import type { OperationDefinitionNode } from 'postgraphile/graphql';
import { inTurn } from '../../scheduling/turns.ts';
import type { PreparedDocument } from '../document/document.ts';
import { planningMs } from '../document/plans.ts';

const planned = new WeakSet<OperationDefinitionNode>();

/**
 * Does what begins by planning an operation: in its turn, unless this thread has planned the operation before.
 * Planning blocks the thread for 2 to 20 ms.
 */
export async function planInTurn<T>({ operation, size }: PreparedDocument, execute: () => T): Promise<T> {
  if (planned.has(operation)) return execute();
  return inTurn(planningMs(size), () => {
    planned.add(operation);
    return execute();
  });
}
