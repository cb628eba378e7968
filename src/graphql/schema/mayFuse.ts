import { findOtherVersion } from '../../../plugins/fusion/internals.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';

/** Whether FusionPlugin is enabled: unless turned off, or the libraries have other versions. */
export function mayFuse({ fusion }: Pick<Config, 'fusion'>, log: Log): boolean {
  if (!fusion) return false;
  const reason = findOtherVersion();
  if (reason !== null) log.warn({ reason }, 'FusionPlugin is disabled');
  return reason === null;
}
