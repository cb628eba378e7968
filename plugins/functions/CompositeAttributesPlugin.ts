import {
  listOfCodec,
  type PgCodec,
  type PgCodecWithAttributes,
  PgSelectSingleStep,
  pgSelect,
} from 'postgraphile/@dataplan/pg';
import { get, lambda, type Step } from 'postgraphile/grafast';
import type { GraphQLOutputType } from 'postgraphile/graphql';
import type { SQL } from 'postgraphile/pg-sql2';
import { encodeNodeId } from '../NodeIdPlugin.ts';
import { isComposite, typeNameOf } from './inputOf.ts';
import { listOfArray, rowsOfArray } from './SetofPlugin.ts';

/**
 * Composite values within what a mutation returns, as columns of its one statement.
 * PostGraphile would send them back in another statement to take them apart, since it reads nothing in a statement that writes.
 * An array of them that is null is null, and not a list without items.
 * `@type {User}` makes an attribute, which is a key, the global id of a user, as it does in input objects.
 */
export const CompositeAttributesPlugin: GraphileConfig.Plugin = {
  name: 'CompositeAttributesPlugin',

  schema: {
    hooks: {
      GraphQLObjectType: (config, build, { scope: { pgCodec } }) =>
        isOfColumns(build, pgCodec) ? { ...config, assertStep: null } : config,

      GraphQLObjectType_fields_field(field, build, { scope: { pgCodec, pgFieldAttribute } }) {
        const [name] = Object.entries(pgCodec?.attributes ?? {}).find(([, each]) => each === pgFieldAttribute) ?? [];
        const { plan } = field;
        const idType =
          name && pgCodec && isComposite(pgCodec) && typeNameOf(pgFieldAttribute?.extensions?.tags?.type, name);
        if (name && idType) {
          const toId = idOf(idType);
          const type = build.graphql.GraphQLID as GraphQLOutputType;
          return { ...field, type, plan: ($row: Step) => lambda(get($row, name), toId, true) };
        }
        const codec = pgFieldAttribute?.codec as PgCodec | undefined;
        const item = codec?.arrayOfCodec;
        const planned = (item && planOfArray(build, item, name ?? '')) ?? plan;
        if (!name || !plan || !planned) return field;
        if (!isOfColumns(build, codec)) return { ...field, plan: planned };
        const isWritten = ($row: Step) =>
          !($row instanceof PgSelectSingleStep) || $row.getClassStep().mode === 'mutation';
        return { ...field, plan: ($row, ...rest) => (isWritten($row) ? get($row, name) : planned($row, ...rest)) };
      },
    },
  },
};

/** One function, by which Grafast finds equal steps. */
const fromArray = (array: { readonly placeholder: SQL }) => rowsOfArray(array.placeholder);

/** As PostGraphile's own plan; null unless its items are composite. */
function planOfArray(build: GraphileBuild.Build, item: PgCodec, name: string) {
  const resource = item.attributes && build.pgTableResource(item as PgCodecWithAttributes, false);
  if (!resource) return null;
  const pgCodec = listOfCodec(resource.codec);
  return ($row: Step) => {
    const args = [{ step: get($row, name), pgCodec }];
    const $rows = pgSelect({ resource, identifiers: [], args, from: fromArray });
    $rows.setTrusted();
    return listOfArray($rows);
  };
}

const idOf = (typeName: string) => (key: unknown) => (key == null ? null : encodeNodeId([typeName, key]));

/** A computed field needs more of its row than columns. */
const isOfColumns = ({ pgResources }: GraphileBuild.Build, codec: PgCodec | undefined) =>
  codec !== undefined &&
  isComposite(codec) &&
  !Object.values(pgResources).some(({ parameters }) => parameters?.[0]?.codec === codec);
