import { LIST_TYPES, type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';

/**
 * Keeps a table or type apart that is called like one of PostgreSQL's own types, such as a table `json`.
 * PostGraphile names the codecs of both alike and stops. The mark is no part of a name in GraphQL.
 */
export const CodecNamesPlugin: GraphileConfig.Plugin = {
  name: 'CodecNamesPlugin',

  inflection: {
    replace: {
      classCodecName: (previous, _options, details) => marked(previous?.(details) ?? ''),
      typeCodecName: (previous, _options, details) => marked(previous?.(details) ?? ''),
      _codecName: (previous, _options, codec) => previous?.(unmarked(codec)) ?? '',
      scalarCodecTypeName: (previous, _options, codec) => previous?.(unmarked(codec)) ?? '',
    },
  },
};

const mark = '$';

const marked = (name: string) => (namesOfPostgres.has(name) ? `${name}${mark}` : name);

const unmarked = <Codec extends Pick<PgCodec, 'name'>>(codec: Codec): Codec =>
  codec.name.endsWith(mark) ? { ...codec, name: codec.name.slice(0, -mark.length) } : codec;

const namesOfPostgres: ReadonlySet<string> = new Set(
  [...Object.values(TYPES), ...Object.values(LIST_TYPES)].map(({ name }) => name),
);
