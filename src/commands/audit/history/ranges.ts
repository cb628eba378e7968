/** The ids of an int8multirange, ascending; `place` counts the ids in the ranges before. */
export type Ranges = readonly { readonly from: number; readonly below: number; readonly place: number }[];

/** Parses PostgreSQL's text, such as `{[1,5),[7,9)}`; leaves out a range without an end. */
export function parseRanges(text: string): Ranges {
  let place = 0;
  return Array.from(text.matchAll(/\[(-?\d+),(-?\d+)\)/g), ([, first, end]) => {
    const range = { from: Number(first), below: Number(end), place };
    place += range.below - range.from;
    return range;
  });
}

export const sizeOf = (ranges: Ranges): number => ranges.reduce((size, { from, below }) => size + below - from, 0);

/** How many of the ids are below a given one, by binary search; undefined if it is none of them. */
export function rangeOf(ranges: Ranges, id: number): number | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.below ?? id) <= id) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range && id >= range.from ? range.place + id - range.from : undefined;
}

/** The ids at these places, which ascend. */
export const idsAt = (ranges: Ranges, places: readonly number[]): number[] =>
  places.flatMap((place) => {
    const range = ranges.findLast((candidate) => candidate.place <= place);
    return range ? [range.from + place - range.place] : [];
  });

/** The ranges up to an id, as PostgreSQL reads them. */
export function printRangesUpTo(ranges: Ranges, id: number): string {
  const parts = ranges
    .filter(({ from }) => from <= id)
    .map(({ from, below }) => `[${from},${Math.min(below, id + 1)})`);
  return `{${parts.join(',')}}`;
}
