import type { Pool } from 'pg';
import type { ThreadState } from './createMetrics.ts';

/** A pool's connections by state, and how many requests wait for one. */
export const stateOf = ({ totalCount, idleCount, waitingCount }: Pool): ThreadState['pool'] => ({
  busy: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});
