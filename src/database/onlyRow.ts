/** The row of a statement that always returns one, such as `insert … returning`. */
export function onlyRow<T>({ rows }: { rows: T[] }): T {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement that always has a row had none');
  return row;
}
