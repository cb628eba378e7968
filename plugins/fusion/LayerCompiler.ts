import type { LayerPlan, Step } from './internals.ts';
import type { JsonWriter } from './JsonWriter.ts';

/** Registers: values known while a list is written, of steps that more than one other step needs. */
export type Registers = unknown[];

/** Computes a step's value for the current object. */
export type Compute = (registers: Registers) => unknown;

/** Writes the current object as JSON, and returns whether it is one: null is not. */
export type Write = (registers: Registers, json: JsonWriter) => boolean;

/** Counted rows with their counter, to be taken back when Grafast counts them again. */
export type Counted = [countRows: (rows: number) => void, rows: number][];

/** Fallback to Grafast: a plan that fusion cannot compile, or rows that may have errors. */
export class NotFusible extends Error {
  override name = 'NotFusible';
}

/** Register allocation of one fused list. The steps above the list are its inputs. */
export class RegisterMap {
  readonly inputs = new Map<Step, number>();
  #count = 0;
  /** The register of {@link Counted}. */
  readonly counted = this.newRegister();

  newRegister(): number {
    return this.#count++;
  }

  registerOf(input: Step): number {
    const register = this.inputs.get(input) ?? this.newRegister();
    this.inputs.set(input, register);
    return register;
  }
}

/** Compiles the steps of one layer plan, for some or all types, to closures over {@link Registers}. */
export class LayerCompiler {
  readonly layout: RegisterMap;
  readonly layer: LayerPlan;
  readonly parent: LayerCompiler | null;
  readonly path: Path;
  readonly #prologue: { readonly register: number; readonly compute: Compute }[] = [];
  readonly #known = new Map<Step, Compute>();

  constructor(layout: RegisterMap, layer: LayerPlan, path: Path, parent: LayerCompiler | null = null) {
    this.layout = layout;
    this.layer = layer;
    this.path = path;
    this.parent = parent;
  }

  below(layer: LayerPlan, path = this.path): LayerCompiler {
    return new LayerCompiler(this.layout, layer, path, this);
  }

  /** The compiler, from here up, that computes the step; null for an input. */
  ownerOf(step: Step): LayerCompiler | null {
    if (this.parent === null) return null;
    return this.layer === step.layerPlan ? this : this.parent.ownerOf(step);
  }

  find(step: Step): Compute | undefined {
    return this.#known.get(step);
  }

  /** Computes the step wherever it is used. */
  inline(step: Step, compute: Compute): Compute {
    this.#known.set(step, compute);
    return compute;
  }

  /** Computes the step once for each object, in the prologue. */
  memoize(step: Step, compute: Compute): Compute {
    const register = this.layout.newRegister();
    this.#prologue.push({ register, compute });
    return this.inline(step, (registers) => registers[register]);
  }

  /** Reads the step's value from a register that the caller fills. */
  inRegister(step: Step): number {
    const register = this.layout.newRegister();
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

/** The types chosen so far, as Grafast's `polymorphicPaths`; undefined when they were chosen above. */
type Path = string | null | undefined;
