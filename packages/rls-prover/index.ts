/** Proves for all rows and all claims what row-level security lets no client do. The README says how. */
export { type Catalogue, readCatalogue } from './src/catalogue.ts';
export { compareExpressions, type Relationship } from './src/implication.ts';
export type {
  Acceptance,
  Assumptions,
  Claim,
  Command,
  Examples,
  Goal,
  Invariant,
  Judgement,
  Mutation,
  MutationOptions,
  Options,
  Principal,
  Verdict,
} from './src/interface.ts';
export { mutate } from './src/mutate.ts';
export { prove } from './src/prove.ts';
export { openProver, type Prover } from './src/prover.ts';
