import type { z } from 'zod';
import { documentJsonSchema } from '../../src/provisioning/document.ts';
import { describeVariables } from '../../src/variables.ts';

type Schema = z.core.JSONSchema.BaseSchema;

/** docs/configuration.md's table. */
export function configurationTables(): string {
  const rows = describeVariables().map(({ name, values, unset, meaning }) => [`\`${name}\``, values, unset, meaning]);
  return table(['Variable', 'Values', 'Default', 'Meaning'], rows);
}

/** docs/provisioning.md's tables: an object of the document each. */
export function provisioningTables(): string {
  const schema = documentJsonSchema();
  const sections = [...objectsIn('', schema), ...objectsIn('…units[]', schema.$defs.unit)];
  return sections
    .map(([path, { properties = {}, required = [] }]) => {
      const rows = Object.entries(properties as Record<string, Schema>).map(([name, field]) => [
        `\`${name}\``,
        formatOf(field),
        required.includes(name) ? 'yes' : '',
        meaningOf(field),
      ]);
      const title = path ? `\`${path}\`` : 'The document';
      return `### ${title}\n\n${table(['Field', 'Value', 'Required', 'Meaning'], rows)}`;
    })
    .join('\n\n');
}

function* objectsIn(path: string, schema: Schema): Generator<[string, Schema]> {
  for (const choice of schema.oneOf ?? schema.anyOf ?? []) {
    const { const: type } = ((choice as Schema).properties?.type ?? {}) as Schema;
    yield* objectsIn(type === undefined ? path : `${path} of type ${type}`, choice as Schema);
  }
  if (schema.items) yield* objectsIn(`${path}[]`, schema.items as Schema);
  if (!schema.properties) return;
  yield [path, schema];
  for (const [name, field] of Object.entries(schema.properties))
    yield* objectsIn(path ? `${path}.${name}` : name, field as Schema);
}

function formatOf(schema: Schema): string {
  const choices = (schema.oneOf ?? schema.anyOf ?? []) as Schema[];
  if (choices.some(({ type }) => type === 'null'))
    return `${choices.filter(({ type }) => type !== 'null').map(formatOf)} or null`;
  if (choices.length > 0) return [...new Set(choices.map(formatOf))].join(' or ');
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  switch (schema.type) {
    case 'array':
      return `list${between(schema.minItems, schema.maxItems)} of ${formatOf(schema.items as Schema)}`;
    case 'integer':
      return `${schema.minimum} to ${schema.maximum}`;
    case 'string':
      return `${schema.format === 'uuid' ? 'UUID' : 'text'}${between(schema.minLength, schema.maxLength)}`;
    case 'boolean':
      return '`true`, `false`';
    default:
      return 'object';
  }
}

function between(least = 0, most = Number.POSITIVE_INFINITY): string {
  if (least > 0 && most < Number.POSITIVE_INFINITY) return ` (${least} to ${most})`;
  if (least > 0) return ` (at least ${least})`;
  return most < Number.POSITIVE_INFINITY ? ` (at most ${most})` : '';
}

/** Its own, and that of what a list or a value other than null has. */
function meaningOf({ description, anyOf = [], items }: Schema): string {
  const inner = [...(anyOf as Schema[]), (items ?? {}) as Schema].map((part) => part.description);
  return [description, ...inner].filter(Boolean).join(' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
