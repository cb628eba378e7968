/** Bounds the cardinality: each name takes some forty series. */
const maxNames = 100;

/**
 * Turns names of operations into labels, a bounded number of them.
 * A name becomes one when an operation of this name was answered without an error; whatever comes when they are all taken, or never
 * succeeds, is `other`.
 */
export function createOperationLabels(max = maxNames) {
  const known = new Set<string>();
  return (operation: string | undefined, succeeded: boolean): string => {
    if (operation === undefined) return 'none';
    if (succeeded && known.size < max && operation.length <= 100) known.add(operation);
    return known.has(operation) ? operation : 'other';
  };
}
