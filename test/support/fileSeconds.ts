/**
 * What files take that take long, in seconds, measured one by one on two cores that do nothing else: the tests of the whole system,
 * and of the others those over some ten seconds. For the order of a run and the shards of CI.
 */
export const fileSeconds: Readonly<Record<string, number>> = {
  'audit/prove/mistakes.system.ts': 120,
  'audit/prove/mutations.system.ts': 145,
  'system/changes.system.ts': 115,
  'system/idempotency.system.ts': 141,
  'system/badClients.system.ts': 69,
  'development/development.test.ts': 28,
  'process/embedded.test.ts': 19,
};
