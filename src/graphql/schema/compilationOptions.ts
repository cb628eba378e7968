import type { CompilationOptions } from 'grafast-compile';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';

/**
 * The settings of compilation, as configured.
 * Where the package does not know the libraries, the log says so once a schema, and Grafast executes every operation.
 *
 * @param onState called with whether operations are compiled, first as configured
 */
export function compilationOptions(
  { compilation, limits }: Pick<Config, 'compilation' | 'limits'>,
  log: Log,
  onState: (isCompiling: boolean) => void = () => undefined,
): CompilationOptions {
  onState(compilation);
  return {
    isEnabled: compilation,
    maxBytes: limits.bytes,
    onUnknown(reason) {
      log.warn({ reason }, 'operations are not compiled');
      onState(false);
    },
  };
}
