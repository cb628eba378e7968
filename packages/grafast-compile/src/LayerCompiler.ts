import { classOf, type LayerPlan, type Step } from './internals.ts';
import type { JsonWriter } from './JsonWriter.ts';

/** Registers: values known while an operation runs, of steps that more than one other step needs. */
export type Registers = unknown[];

/** Computes a step's value for the current object. */
export type Compute = (registers: Registers) => unknown;

/** Writes the current object as JSON, and returns whether it is one: null is not. */
export type Write = (registers: Registers, json: JsonWriter) => boolean;

/** Fallback to Grafast: a plan that cannot be compiled, or rows that may have errors. */
export class NotCompilableError extends Error {
  override name = 'NotCompilableError';
}

/** In a register whose value was not computed yet. */
const notComputed = Symbol('not computed');

/** Register allocation of one operation. */
export class RegisterMap {
  #count = 0;

  allocate(): number {
    return this.#count++;
  }

  create(): Registers {
    return new Array(this.#count).fill(notComputed);
  }
}

/**
 * Compiles the steps of one layer plan, for some or all types, to closures over {@link Registers}.
 * A layer of one object at most is computed lazily, on demand, and kept; one below a list again for each object.
 */
export class LayerCompiler {
  readonly registers: RegisterMap;
  readonly layer: LayerPlan;
  readonly parent: LayerCompiler | null;
  readonly path: Path;
  /** Whether there is at most one object. */
  readonly isSingle: boolean;
  readonly #prologue: { readonly register: number; readonly compute: Compute }[] = [];
  readonly #known = new Map<Step, Compute>();
  readonly #below = new Map<string, LayerCompiler>();

  constructor(registers: RegisterMap, layer: LayerPlan, path: Path = null, parent: LayerCompiler | null = null) {
    this.registers = registers;
    this.layer = layer;
    this.path = path;
    this.parent = parent;
    this.isSingle = parent === null || (parent.isSingle && layer.reason.type !== 'listItem');
  }

  /** The compiler of a layer below; of one object it is the same each time, and so are its registers. */
  below(layer: LayerPlan, path = this.path): LayerCompiler {
    const key = `${layer.id} ${path}`;
    const known = this.#below.get(key);
    if (known) return known;
    const below = new LayerCompiler(this.registers, layer, path, this);
    if (below.isSingle) this.#below.set(key, below);
    return below;
  }

  /** The compiler, from here up, that computes the step. @throws {NotCompilableError} when it is elsewhere */
  ownerOf(step: Step): LayerCompiler {
    if (this.layer === step.layerPlan) return this;
    if (this.parent === null) throw new NotCompilableError(`${classOf(step)} of another layer`);
    return this.parent.ownerOf(step);
  }

  find(step: Step): Compute | undefined {
    return this.#known.get(step);
  }

  /** Computes the step wherever it is used. */
  inline(step: Step, compute: Compute): Compute {
    this.#known.set(step, compute);
    return compute;
  }

  /** Computes the step once for each object. */
  memoize(step: Step, compute: Compute): Compute {
    const register = this.registers.allocate();
    if (this.isSingle) {
      return this.inline(step, (registers) => {
        if (registers[register] === notComputed) registers[register] = compute(registers);
        return registers[register];
      });
    }
    this.#prologue.push({ register, compute });
    return this.inline(step, (registers) => registers[register]);
  }

  /** Reads the step's value from a register that the caller fills. */
  inRegister(step: Step): number {
    const register = this.registers.allocate();
    this.inline(step, (registers) => registers[register]);
    return register;
  }

  /** Writes after the prologue: all steps that were memoized until now. */
  withPrologue(write: Write): Write {
    const prologue = [...this.#prologue];
    if (prologue.length === 0) return write;
    return (registers, json) => {
      for (const { register, compute } of prologue) registers[register] = compute(registers);
      return write(registers, json);
    };
  }
}

/** The types chosen so far, as Grafast's `polymorphicPaths`. */
type Path = string | null;
