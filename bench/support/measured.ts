/** One row of the table that a benchmark prints. */
export type Measured = {
  readonly what: string;
  readonly figure: string;
  readonly bound: string;
  readonly isMet: boolean;
};

export const atMost = (what: string, figure: number, bound: number, unit: string): Measured => ({
  what,
  figure: `${figure.toFixed(1)} ${unit}`,
  bound: `at most ${bound} ${unit}`,
  isMet: figure <= bound,
});

export const atLeast = (what: string, ratio: number, bound: number): Measured => ({
  what,
  figure: ratio.toFixed(3),
  bound: `at least ${bound}`,
  isMet: ratio >= bound,
});

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN;
