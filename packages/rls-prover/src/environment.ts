import { callFunction } from './functions.ts';
import type { Problem } from './problem.ts';
import { forSome } from './query.ts';
import type { Environment } from './scope.ts';

/** Where translation begins: as a role, in the world as it is, within nothing. */
export const createEnvironment = (
  { catalogue, parser, claims }: Pick<Environment, 'catalogue' | 'parser' | 'claims'>,
  problem: Problem,
  actor: string,
  source: string,
): Environment => ({
  ...{
    language: { callFunction, forSome },
    catalogue,
    parser,
    claims,
    problem,
    actor,
    user: actor,
    world: { name: 'this' },
    depth: 0,
  },
  ...{ variables: [], asked: [], reads: [], source, isImmutable: false, isPinned: true },
});
