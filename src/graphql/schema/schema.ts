import { stripVTControlCharacters } from 'node:util';
import type { CompilationOptions } from 'grafast-compile';
import { escapeIdentifier, type Pool } from 'pg';
import { makeSchema } from 'postgraphile';
import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { buildInflection, gather } from 'postgraphile/graphile-build';
import type { GraphQLSchema } from 'postgraphile/graphql';
import { rowInputName } from '../../../plugins/functions/InputObjectsPlugin.ts';
import { isComposite } from '../../../plugins/functions/inputOf.ts';
import { readMigrations } from '../../database/migrations/watchMigrations.ts';
import { explainFailure, SchemaError } from '../../errors/errors.ts';
import { createPreset } from './preset.ts';

/** The schema generated from the database, and the preset for its operations. */
export interface Graph {
  readonly schema: GraphQLSchema;
  readonly resolvedPreset: GraphileConfig.ResolvedPreset;
  /** The migrations that the database had before it was introspected. */
  readonly migrations: string;
  /** Releases PostGraphile's resources; the pool stays open. */
  release(): Promise<void>;
}

/** Reads the catalogue as the authenticator. @throws {SchemaError} when names meet, or a comment or a plugin contradicts it */
export async function buildGraph(pool: Pool, compilation: CompilationOptions = notCompiled): Promise<Graph> {
  const migrations = await readMigrations(pool);
  const preset = createPreset(pool, compilation);
  const { schema, resolvedPreset } = await makeSchema(preset).catch(async (error: unknown) => {
    throw await explainBuildError(error, preset);
  });
  const release = async () => {
    for (const service of resolvedPreset.pgServices ?? []) await service.release?.();
  };
  return { schema, resolvedPreset, migrations, release };
}

const notCompiled: CompilationOptions = { isEnabled: false };

/**
 * Names the objects of an error of PostGraphile, and what to write into which comment.
 * An error of the database itself stays as it is.
 */
async function explainBuildError(error: unknown, preset: GraphileConfig.Preset): Promise<unknown> {
  if (!(error instanceof Error) || explainFailure(error)) return error;
  const text = stripVTControlCharacters(error.message);
  const catalogue = await readCatalogue(preset);
  // By the words of the version that package-lock.json pins; those of others would be shown as they are.
  const [type] = captures(/same type '(\w+)'|A type named (\w+) already exists/, text);
  if (type) return typeConflict(type, findOwners(type, catalogue), error);
  const [key] = captures(/same key '(\w+)'/, text);
  if (key) return fieldConflict(key, text, catalogue, error);
  const [name] = captures(/(?:Codec named|with the same name) '([^']+)'/, text);
  const objects = name
    ? catalogue.named(name)
    : [...text.matchAll(/"([^"]+)"\."([^"]+)"|\b(app_public)\.(\w+)/g)].map((found) =>
        found.slice(1).filter(Boolean).map(quoted).join('.'),
      );
  if (name || text.includes('second resource')) {
    const owners = objects.toSorted().reverse().map(catalogue.objectNamed);
    return nameConflict('two tables or types would have one name in GraphQL', owners, error);
  }
  const [sentence = ''] = text.split(/ If this list of attributes|\n *To temporarily fix|\n *Details: https:/);
  return new SchemaError(`${sentence}\n${remedyOf(text, objects)}`, objects, { cause: error });
}

/** What to do about a message that names its objects itself. */
function remedyOf(text: string, objects: readonly string[]): string {
  const [columns] = captures(/non-unique combination of attributes '[\w.]+' \(([^)]*)\)/, text);
  if (columns)
    return `Say \`@unique ${columns}\` in the comment of ${objects[1]}, which may have lost it, or add a unique constraint.`;
  if (text.includes('relation named'))
    return 'Give one another name by `@fieldName …` or `@foreignFieldName …` in the comment of its constraint.';
  return 'Correct what it names, or the comment of that: docs/changing-the-schema.md has the smart tags.';
}

/** An object, and what `comment on` calls it. */
type Owner = { readonly name: string; readonly kind: string };

const typeConflict = (type: string, owners: readonly Owner[], cause: Error) =>
  owners.length > 1
    ? nameConflict(`two types would be called ${type} in GraphQL`, owners, cause)
    : nameConflict(`GraphQL or the service has a type ${type}, and another would be called so`, owners, cause);

/** @param owners the one that is to be renamed last */
function nameConflict(what: string, owners: readonly Owner[], cause: Error): SchemaError {
  const names = owners.map(({ name }) => name);
  const { kind, name } = owners.at(-1) ?? { kind: 'table', name: 'app_public.…' };
  const whose = names.length > 0 ? `that of ${names.join(' and that of ')}` : cause.message;
  const remedy = `Give it another name, above the text of its comment: comment on ${kind} ${name} is E'@name another_name\\n…'`;
  return new SchemaError(`${what}: ${whose}.\n${remedy}`, names.toReversed(), { cause });
}

/** @param text names the entities, a column with its table's codec, a function without its schema */
function fieldConflict(key: string, text: string, { owners }: Catalogue, cause: Error) {
  const [codec] = captures(/representing PgCodec '([^']+)'/, text);
  const table = owners.find((owner) => owner.codec === codec)?.name;
  const columns = table ? captures(/'(\w+)' attribute/, text).map((column) => `column ${table}.${quoted(column)}`) : [];
  const functions = captures(/function resource '(\w+)'/, text).map((name) => `function app_public.${quoted(name)}`);
  const fields = [...columns, ...functions];
  const entities = captures(/entity was:\s+(.+?)\.?\s*(?=\n|$)/, text);
  const said = fields.length > 1 ? fields.join(' and ') : `${entities.join('; ')}; perhaps a function or a foreign key`;
  const remedy = `Give one another name, above the text of its comment: comment on ${fields.at(-1) ?? 'column …'} is E'@name another_name\\n…'`;
  const ofKey =
    'The field of a foreign key takes `@fieldName` or `@foreignFieldName` in the comment of its constraint.';
  const objects = fields.map((field) => field.replace(/^\w+ /, '')).toReversed();
  return new SchemaError(
    `two fields would be called ${key} in GraphQL: ${said}.\n${remedy}\n${ofKey}`,
    [...objects, ...(table ? [table] : [])],
    { cause },
  );
}

/** The objects that make a type: last those whose only name is the type's, and a singular after its plural. */
const findOwners = (type: string, { owners }: Catalogue): Owner[] =>
  owners
    .filter(({ types }) => types.includes(type))
    .toSorted((one, other) => other.name.localeCompare(one.name))
    .toSorted((one, other) => Number(one.types[0] === type) - Number(other.types[0] === type));

type Catalogue = {
  /** Each table, view and type, with the names in GraphQL that are made of its own; none if these cannot be read. */
  readonly owners: readonly (Owner & { readonly codec: string; readonly types: readonly string[] })[];
  readonly objectNamed: (name: string) => Owner;
  /** The tables, views and types of which PostGraphile makes this name. */
  readonly named: (name: string) => string[];
};

async function readCatalogue(preset: GraphileConfig.Preset): Promise<Catalogue> {
  const kinds = new Map<string, string>();
  const reader: GraphileConfig.Plugin = {
    name: 'CatalogueReader',
    gather: {
      hooks: {
        pgIntrospection_introspection(_info, { introspection }) {
          for (const type of introspection.types.filter((each) => each.getNamespace()?.nspname === 'app_public')) {
            const kind = kindsOfClass[type.getClass()?.relkind ?? ''] ?? kindsOfType[type.typtype ?? ''];
            if (kind) kinds.set(`app_public.${quoted(type.typname)}`, kind);
          }
        },
      },
    },
  };
  const inflection = buildInflection(preset);
  const input = await gather({ extends: [preset], plugins: [reader] }, { inflection }).catch(() => null);
  const objectNamed = (name: string) => ({ name, kind: kinds.get(name) ?? 'function' });
  const codecs = Object.values(input?.pgRegistry?.pgCodecs ?? {}) as PgCodec[];
  const owners = codecs.flatMap((codec) => {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (schemaName !== 'app_public' || !name || codec.arrayOfCodec) return [];
    const types = codec.attributes ? typesOfRow(inflection, codec) : [inflection.scalarCodecTypeName(codec as never)];
    return [{ ...objectNamed(`${schemaName}.${quoted(name)}`), codec: codec.name, types }];
  });
  const named = (name: string) =>
    [...kinds.keys()].filter((object) => inflection.camelCase(object.replace(/^app_public\.|"/g, '')) === name);
  return { owners, objectNamed, named };
}

/** The words of `comment on` for a relation, by `relkind`, and for any other type, by `typtype`. */
const kindsOfClass: Readonly<Record<string, string>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
  c: 'type',
};
const kindsOfType: Readonly<Record<string, string>> = { d: 'domain', e: 'type', r: 'type' };

/** An object without columns has fewer types. None of these names could be mistaken for one of another object. */
function typesOfRow(inflection: GraphileBuild.Inflection, codec: PgCodec): string[] {
  const row = codec as PgCodecWithAttributes;
  const type = inflection.tableType(row);
  return [
    type,
    inflection.tableConnectionType(row),
    inflection.tableEdgeType(row),
    inflection.conditionType(type),
    inflection.orderByType(type),
    isComposite(codec) ? inflection.inputType(type) : rowInputName(inflection, codec),
  ];
}

const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : escapeIdentifier(name));

const captures = (pattern: RegExp, text: string): string[] =>
  [...text.matchAll(new RegExp(pattern, 'g'))].map((found) => found.slice(1).find(Boolean) ?? '');
