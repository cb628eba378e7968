/** Proves for all rows and all claims what row-level security lets no client do. The README says how. */
export {
  type Acceptance,
  type Assumptions,
  type Claim,
  type Command,
  type Examples,
  type Goal,
  type Invariant,
  isOpen,
  type Judgement,
  type Mutation,
  type MutationOptions,
  type Options,
  type Principal,
  type Verdict,
} from './interface.ts';
export { mutate } from './mutate.ts';
export { prove } from './prove.ts';
export { openProver, type Prover } from './prover.ts';
