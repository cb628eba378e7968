/**
 * Searches, `*.search.ts`, draw their cases. `npm test` runs a small part of each that is the same every time; `npm run test:system`
 * draws all of it anew, and prints its seed. `SEED=…` repeats a run.
 */
export const isWhole = process.env.TEST_SEARCHES === 'whole';

/** How many cases to draw. */
export const sizeOf = ({ small, whole }: { small: number; whole: number }): number => (isWhole ? whole : small);

export const seed = Number(process.env.SEED || (isWhole ? Math.floor(Math.random() * 2 ** 31) : 1));
