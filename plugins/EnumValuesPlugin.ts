import { isEnumCodec, type PgCodec } from 'postgraphile/@dataplan/pg';

/**
 * GraphQL names of enum values: `in-repair` is `in_repair`, `2nd` is `_2nd`.
 * If two values get the same name, the build stops, as one of them could not be selected. `@value <value> <description>` in the comment of
 * the type describes one.
 */
export const EnumValuesPlugin: GraphileConfig.Plugin = {
  name: 'EnumValuesPlugin',

  gather: {
    hooks: {
      pgCodecs_PgCodec(_info, { pgCodec, pgType }) {
        const codec = pgCodec as PgCodec;
        if (!isEnumCodec(codec)) return;
        const lines = [pgType.getTagsAndDescription().tags.value ?? []].flat().map(String);
        for (const value of codec.values as { value: string; description?: string }[]) {
          const line = lines.find((text) => text.startsWith(`${value.value} `));
          if (line) value.description = line.slice(value.value.length + 1);
        }
      },
    },
  },

  inflection: {
    replace: {
      enumValue(previous, _options, value, codec) {
        const nameOf = (text: string) => toName(previous?.(text, codec) ?? text);
        const name = nameOf(value);
        const others = codec.values.map((known) => known.value).filter((other) => other !== value);
        const same = others.find((other) => nameOf(other) === name);
        if (same === undefined) return name;
        throw new Error(
          `The enum ${codec.name} has the values "${value}" and "${same}", which are both ${name} in the graph; rename one by "alter type … rename value".`,
        );
      },
    },
  },
};

/** https://spec.graphql.org/October2021/#EnumValue: a name, but neither `true`, `false` nor `null`. */
function toName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
  return ['true', 'false', 'null'].includes(name) ? `_${name}` : name;
}
