import { StartupError } from '../../../errors/errors.ts';

/** The package that proves. Only this import loads it, since the server comes without it. */
export const loadProver = (): Promise<typeof import('rls-prover')> => import('rls-prover').catch(missing('rls-prover'));

/** Says how to get a development dependency. @throws {StartupError} always */
export const missing = (name: string) => (cause: unknown) => {
  throw new StartupError(`\`prove\` needs the development dependency ${name}; run \`npm ci --include=dev\`.`, {
    cause,
  });
};
