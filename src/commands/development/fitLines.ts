/**
 * Max-min fair sharing of a page among groups of lines.
 * A group that needs less than its share leaves the rest to the others. The last line of a group counts its omitted lines.
 */
export function fitLines(groups: readonly (readonly string[])[], maxLines: number): string[] {
  const shown = groups.filter(({ length }) => length > 0);
  const lengths = new Map<readonly string[], number>();
  let left = maxLines;
  for (const [place, group] of shown.toSorted((one, other) => one.length - other.length).entries()) {
    const length = Math.min(group.length, Math.floor(left / (shown.length - place)));
    lengths.set(group, length);
    left -= length;
  }
  return shown.flatMap((group) => {
    const length = lengths.get(group) ?? 0;
    if (length === group.length) return group;
    return [...group.slice(0, length - 1), `  … and ${group.length - length + 1} more`];
  });
}
