/** A statement; one with a name is prepared once per connection. */
export type Statement = {
  readonly name?: string | undefined;
  /** Whether it is never evicted from the connection's prepared statements. */
  readonly isPinned?: true;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: 'array';
};

/**
 * Runs first in the same transaction; if it raises an error, the statement does not run.
 * All are pinned.
 */
export type Precondition = {
  readonly name: string;
  readonly isPinned: true;
  readonly text: string;
  readonly values: readonly (string | Buffer)[];
};
