import { init, killThreads } from 'z3-solver';
import { loadParser, type Parser } from './parse.ts';

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

/** Whether a formula can be satisfied, and the values of constants if so. */
type Satisfiable = { status: 'sat' | 'unsat' | 'unknown'; values: ReadonlyMap<string, string> };

type Solver = {
  /** @throws {Error} when it is not SMT-LIB, which must never be taken for a proof */
  solve(script: string): Promise<Satisfiable>;
};

const timeoutMilliseconds = 3000;

/** Z3 keeps memory of each question, and fails when its WebAssembly has no more. */
const maxQuestions = 500;

/**
 * Z3, as WebAssembly, which solves SMT-LIB.
 * It runs on threads that keep the process alive until `close`.
 * The text is read by `fromString`, at once: `eval_smtlib2_string` reads it on a thread, after the binding has freed it.
 */
export async function openSolver(): Promise<Solver & { close(): Promise<void> }> {
  let z3 = await startZ3();
  let asked = 0;
  // One question at a time: the context is one, and none may touch it while a thread does.
  let last: Promise<unknown> = Promise.resolve();
  return {
    solve(script) {
      const answer = last.then(() => solve(script));
      last = answer.catch(() => undefined);
      return answer;
    },
    close: () => killThreads(z3.em),
  };

  async function solve(script: string): Promise<Satisfiable> {
    asked += 1;
    if (asked % maxQuestions === 0) {
      await killThreads(z3.em);
      z3 = await startZ3();
    }
    const solver = new z3.Solver();
    try {
      solver.set('timeout', timeoutMilliseconds);
      solver.fromString(script);
      const status = await solver.check();
      const values = new Map<string, string>();
      if (status === 'sat') {
        const model = solver.model();
        for (const constant of model.decls().filter((declaration) => declaration.arity() === 0))
          values.set(String(constant.name()), String(model.get(constant)));
      }
      return { status, values };
    } finally {
      solver.release();
    }
  }
}

async function startZ3() {
  const { Context, em } = await init();
  return { em, Solver: Context('prove').Solver };
}
