/** Bounds the cardinality: each name takes some forty series. */
const maxNames = 100;

/**
 * Turns names of operations into labels, a bounded number of them.
 * A name becomes a label when its operation was answered without an error. When all are taken, or if it never succeeds, the label is
 * `other`.
 */
export function createOperationLabels(max = maxNames) {
  const known = new Set<string>();
  return (operation: string | undefined, succeeded: boolean): string => {
    if (operation === undefined) return 'none';
    if (succeeded && known.size < max && operation.length <= 100) known.add(operation);
    return known.has(operation) ? operation : 'other';
  };
}
