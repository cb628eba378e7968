import type { LayerPlan, Step } from './internals.ts';
import type { JsonWriter } from './JsonWriter.ts';

/** What is known while a list is written, by slots: each value that more than one thing may need has one. */
export type Frame = unknown[];

/** What a step gives for the object at hand. */
export type Compute = (frame: Frame) => unknown;

/** Writes the object at hand as JSON, and tells whether it is one: null is not. */
export type Write = (frame: Frame, json: JsonWriter) => boolean;

/** Rows that were counted, and with what: they are taken back when Grafast counts them again. */
export type Counted = [countRows: (rows: number) => void, rows: number][];

/** Fusion does not know how, and leaves it to Grafast: while planning, or for the rows at hand, which may have errors to tell of. */
export class Refused extends Error {
  override name = 'Refused';
}

/** The slots of one frame. The steps above the fused list are its inputs. */
export class Layout {
  readonly inputs = new Map<Step, number>();
  #slots = 0;
  /** Where {@link Counted} is. */
  readonly counted = this.newSlot();

  newSlot(): number {
    return this.#slots++;
  }

  slotOf(input: Step): number {
    const slot = this.inputs.get(input) ?? this.newSlot();
    this.inputs.set(input, slot);
    return slot;
  }
}

/** What is computed for each object of one layer, before it is written, and for which of its types. */
export class Scope {
  readonly layout: Layout;
  readonly layer: LayerPlan;
  readonly parent: Scope | null;
  /** The types chosen so far, as Grafast's `polymorphicPaths` have them; undefined when they were chosen above. */
  readonly path: string | null | undefined;
  readonly #program: { readonly slot: number; readonly compute: Compute }[] = [];
  readonly #known = new Map<Step, Compute>();

  constructor(layout: Layout, layer: LayerPlan, path: string | null | undefined, parent: Scope | null = null) {
    this.layout = layout;
    this.layer = layer;
    this.path = path;
    this.parent = parent;
  }

  below(layer: LayerPlan, path = this.path): Scope {
    return new Scope(this.layout, layer, path, this);
  }

  /** The scope, from here up, that computes the step; null for an input. */
  ownerOf(step: Step): Scope | null {
    if (this.parent === null) return null;
    return this.layer === step.layerPlan ? this : this.parent.ownerOf(step);
  }

  find(step: Step): Compute | undefined {
    return this.#known.get(step);
  }

  /** Remembers how to compute it, each time that it is asked for. */
  define(step: Step, compute: Compute): Compute {
    this.#known.set(step, compute);
    return compute;
  }

  /** Remembers to compute it once for each object. */
  keep(step: Step, compute: Compute): Compute {
    const slot = this.layout.newSlot();
    this.#program.push({ slot, compute });
    return this.define(step, (frame) => frame[slot]);
  }

  /** Takes the value from a slot that is filled otherwise. */
  bind(step: Step): number {
    const slot = this.layout.newSlot();
    this.define(step, (frame) => frame[slot]);
    return slot;
  }

  /** Writes after computing all that was found to be needed until now. */
  whole(write: Write): Write {
    const program = [...this.#program];
    if (program.length === 0) return write;
    return (frame, json) => {
      for (const { slot, compute } of program) frame[slot] = compute(frame);
      return write(frame, json);
    };
  }
}
