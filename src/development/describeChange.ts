import type { SchemaChange } from '../parts.ts';

/** What a client notices of the change, one line each: `+` may be used now, `-` breaks somebody, `~` may surprise somebody. */
export async function describeChange({ before, after }: SchemaChange): Promise<string[]> {
  const { CriticalityLevel, diff } = await import('@graphql-inspector/core');
  const signs = {
    [CriticalityLevel.Breaking]: '-',
    [CriticalityLevel.Dangerous]: '~',
    [CriticalityLevel.NonBreaking]: '+',
  };
  const changes = await diff(before, after);
  return changes.map(({ criticality, message }) => `${signs[criticality.level]} ${message}`);
}
