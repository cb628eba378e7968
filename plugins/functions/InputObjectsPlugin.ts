import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { GraphQLNonNull } from 'postgraphile/graphql';
import { inputFieldsOf, isComposite, isOneOf } from './inputOf.ts';

declare global {
  namespace GraphileBuild {
    interface BehaviorStrings {
      'attribute:input': true;
    }
  }
}

/**
 * Input objects from composite types that a function takes.
 * The attributes are the fields, and `@notNull` makes one required. `@oneOf` in the type's comment requires exactly one of them.
 */
export const InputObjectsPlugin: GraphileConfig.Plugin = {
  name: 'InputObjectsPlugin',
  after: ['PgTablesPlugin', 'PgAttributesPlugin', 'PgRelayPlugin'],
  before: ['TenantPlugin'],

  inflection: {
    replace: {
      // A composite type `door_input` is called DoorInputRecord in results, and needs no other name here.
      inputType: (ofPostGraphile, _options, typeName) =>
        /(?:Input|Patch)Record$/.test(typeName)
          ? typeName.replace(/Record$/, '')
          : (ofPostGraphile?.(typeName) ?? `${typeName}Input`),
      // Only a table's row has a global id beside a column of that name.
      _attributeName: (ofPostGraphile, _options, details) => {
        const skipRowId = details.skipRowId || isComposite(details.codec);
        return ofPostGraphile?.({ ...details, skipRowId }) ?? details.attributeName;
      },
    },
  },

  schema: {
    behaviorRegistry: {
      add: {
        'attribute:input': {
          description: 'can clients give this attribute in an input object?',
          entities: ['pgCodecAttribute'],
        },
      },
    },
    entityBehavior: {
      pgCodecAttribute: { inferred: (behavior) => ['attribute:input', behavior] },
    },
    hooks: {
      build(build) {
        keepRowsApart(build as GraphileBuild.Build);
        return build;
      },

      GraphQLInputObjectType(config, build, { scope }) {
        const codec = scope.isInputType ? (scope.pgCodec as PgCodec | undefined) : undefined;
        if (!codec?.attributes) return config;
        const { description = `A ${build.inflection.tableType(codec as never)} as clients give it.` } = codec;
        return { ...config, description, ...(isOneOf(codec) && { isOneOf: true }) };
      },

      GraphQLInputObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        const codec = scope.isInputType ? (scope.pgCodec as PgCodec | undefined) : undefined;
        if (!codec?.attributes) return fields;
        const own = Array.from(inputFieldsOf(build, codec), ([fieldName, { input, isRequired, description }]) => {
          const type = isRequired ? new GraphQLNonNull(input.type) : input.type;
          return [fieldName, fieldWithHooks({ fieldName }, { type, ...(description && { description }) })];
        });
        return Object.fromEntries(own);
      },
    },
  },
};

/**
 * Names the input object of a table's row `DoorRowInput`, and leaves out that of generated mutations.
 * PostGraphile's name `DoorInput` would clash with a composite type `door_input`.
 */
function keepRowsApart(build: GraphileBuild.Build): void {
  const { registerInputObjectType: register, setGraphQLTypeForPgCodec: setType } = build;
  const isRow = (codec: PgCodec | undefined) => codec?.attributes !== undefined && !isComposite(codec);
  build.registerInputObjectType = (typeName, scope, ...rest) => {
    if (scope.isPgPatch || scope.isPgBaseInput) return;
    const isInputOfRow = scope.isInputType === true && isRow(scope.pgCodec as PgCodec | undefined);
    const name = isInputOfRow ? rowInputName(build.inflection, scope.pgCodec as PgCodec) : typeName;
    register.call(build, name, scope, ...rest);
  };
  build.setGraphQLTypeForPgCodec = (codec, situations, typeName) => {
    const [situation] = [situations].flat();
    if (codec.attributes && (situation === 'patch' || situation === 'base')) return;
    const name = situation === 'input' && isRow(codec) ? rowInputName(build.inflection, codec) : typeName;
    setType.call(build, codec, situations, name);
  };
}

/** By the type of the row: `inputType` of a table `door_inputs` would be that of the doors. */
export const rowInputName = (inflection: GraphileBuild.Inflection, codec: PgCodec) =>
  `${inflection.tableType(codec as PgCodecWithAttributes)}RowInput`;
