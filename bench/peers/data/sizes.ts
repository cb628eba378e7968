/** How much there is in each of the ten organizations. */
export type Size = {
  readonly users: number;
  /** By depth; the units of one depth are spread evenly over those above. Each of the first two has ten below it, or more. */
  readonly unitsByDepth: readonly number[];
  /** The settings of its server. */
  readonly serverSettings: Readonly<Record<string, string>>;
};

export const organizations = 10;

export const sizes = {
  /** 100,000 users, 20,000 units, 90,000 cards. */
  small: { users: 10_000, unitsByDepth: [10, 100, 1000, 400, 300, 190], serverSettings: {} },
  /**
   * 10 million users, 1 million units, 9 million cards. PostgreSQL keeps the requested pages in memory, as it does for the small one with
   * the default of 128 MB. Otherwise a query of 50 random users fetches 300 pages from the operating system, and takes half as long again.
   */
  large: {
    users: 1_000_000,
    unitsByDepth: [20, 400, 8000, 30_000, 40_000, 21_580],
    serverSettings: { shared_buffers: '4GB', max_wal_size: '8GB' },
  },
} as const satisfies Record<string, Size>;

export type SizeName = keyof typeof sizes;

export const unitsOf = ({ unitsByDepth }: Size) => unitsByDepth.reduce((sum, count) => sum + count, 0);
