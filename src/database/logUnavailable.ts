import { DatabaseError } from 'pg';
import type { Log } from '../log.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/**
 * Logs that a request failed since the database is away or overloaded; hardly ever, however many do. The watch on the database
 * tells of outages. What PostgreSQL cannot do although it answers, such as writing to a full disk, is told here: once a minute for
 * each SQLSTATE.
 */
export function logUnavailable(log: Log, error: unknown, facts: Readonly<Record<string, unknown>>): void {
  const { code = '' } = error instanceof DatabaseError ? error : {};
  const isOutage = /^(08|57P|$)/.test(code);
  // What PostgreSQL says goes below what we say.
  const told = { ...facts, error: new DatabaseUnavailable({ cause: error }) };
  if (isOutage || !isDue(code)) log.debug(told, 'the database is away');
  else log.error(told, 'the database cannot do what it is asked; told once a minute');
}

const quietForMs = 60_000;
const toldAt = new Map<string, number>();

function isDue(code: string): boolean {
  const now = performance.now();
  const before = toldAt.get(code);
  if (before !== undefined && now - before < quietForMs) return false;
  toldAt.set(code, now);
  return true;
}
