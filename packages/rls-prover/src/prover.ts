import { loadParser, type Parser } from './parse.ts';
import { openSolver, type Satisfiable, type Solver } from './solver.ts';

/** The parser and the solver. */
export type Prover = {
  readonly parser: Parser;

  readonly solver: Solver;
  /** Ends the solver's threads, which keep the process alive. */
  close(): Promise<void>;
};

/**
 * Opens a prover, for several questions about one or more databases.
 * It answers a question that it was asked before from memory.
 */
export async function openProver(): Promise<Prover> {
  const [parser, { solve, close }] = [await loadParser(), await openSolver()];
  const answers = new Map<string, Promise<Satisfiable>>();
  return {
    parser,
    close,
    solver: {
      solve(script) {
        const answer = answers.get(script) ?? solve(script);
        answers.set(script, answer);
        return answer;
      },
    },
  };
}
