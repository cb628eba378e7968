import { findOtherVersion } from '../../plugins/fusion/internals.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';

/** Whether lists are to be fused: unless that is turned off, or the libraries are not those that it was written for. */
export function mayFuse({ fusion }: Pick<Config, 'fusion'>, log: Log): boolean {
  if (!fusion) return false;
  const reason = findOtherVersion();
  if (reason !== null) log.warn({ reason }, 'lists are not fused');
  return reason === null;
}
