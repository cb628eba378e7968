import type { SchemaChange } from '../../service/compose.ts';

/** Describes the change for clients: `+` is new, `-` breaks a client, `~` may surprise one. */
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
