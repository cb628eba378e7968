import { findOtherVersion } from '../../../plugins/compilation/internals.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';

/** Whether CompilationPlugin is enabled: unless turned off, or the libraries have other versions. */
export function mayCompile({ compilation }: Pick<Config, 'compilation'>, log: Log): boolean {
  if (!compilation) return false;
  const reason = findOtherVersion();
  if (reason !== null) log.warn({ reason }, 'CompilationPlugin is disabled');
  return reason === null;
}
