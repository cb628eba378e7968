// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files
import type { PlantedFault } from './plantFault.ts';

const ofOrganization = 'organization_id = (select app_hidden.current_organization_id())';

/** In plans. */
const plans: readonly PlantedFault[] = [
  {
    name: 'what types of an interface share is run for some of them',
    file: 'packages/grafast-compile/src/PolymorphicPathsPlugin.ts',
    from: "createPlanPlugin('PolymorphicPathsPlugin', extendPaths)",
    to: "createPlanPlugin('PolymorphicPathsPlugin', () => undefined)",
  },
  {
    name: 'accessible units are looked for without the one after the page',
    file: 'plugins/AccessibleUnitsPlugin.ts',
    from: '?? defaultPageSize) + 1, TYPES.int)',
    to: '?? defaultPageSize), TYPES.int)',
  },
  {
    name: 'accessible units are looked for from the front, whatever else is asked',
    file: 'plugins/AccessibleUnitsPlugin.ts',
    from: ' || others.some((argument) => argument != null)',
    to: '',
  },
  {
    name: 'a page from the end has a first, too',
    file: 'plugins/ConnectionArgumentsPlugin.ts',
    from: 'first ?? (last == null ? defaultPageSize : null);',
    to: 'first ?? defaultPageSize;',
  },
  {
    name: 'an order that may be null is ascending in both directions',
    file: 'plugins/OrdersPlugin.ts',
    from: "query.orderBy({ fragment: sql`coalesce(${column}, '')`, codec, direction, nullable: false });",
    to: "query.orderBy({ fragment: sql`coalesce(${column}, '')`, codec, direction: 'ASC', nullable: false });",
  },
  {
    name: 'an id finds a card of another type',
    file: 'plugins/NodeTypePlugin.ts',
    from: '$rows.where(sql`${$rows.alias}.${sql.identifier(typeColumn)} = ${sql.literal(value)}`);',
    to: '',
  },
  {
    name: 'people read external authentication tokens',
    file: 'plugins/ExternalAuthenticationTokenPlugin.ts',
    from: "assertScope(graph.scopes, 'app');",
    to: '',
  },
];

/** In filters. */
const filters: readonly PlantedFault[] = [
  {
    name: 'addresses are compared as they are written',
    file: 'plugins/ColumnFiltersPlugin.ts',
    from: 'inAnyCase((texts) => sql`app_hidden.lowercase(${texts})`)',
    to: 'inAnyCase((texts) => texts)',
  },
  {
    name: 'badges are compared as they are written',
    file: 'plugins/ColumnFiltersPlugin.ts',
    from: 'inAnyCase((texts) => sql`upper(${texts} collate "C")`)',
    to: 'inAnyCase((texts) => texts)',
  },
  {
    name: 'a beacon is found by the first of its values',
    file: 'plugins/KeyFiltersPlugin.ts',
    from: "attributes.filter((attribute) => attribute !== 'organization_id')",
    to: "attributes.filter((attribute) => attribute !== 'organization_id').slice(0, 1)",
  },
  {
    name: 'an empty list is no filter',
    file: 'plugins/ColumnFiltersPlugin.ts',
    from: '(value == null ? null : operator.apply',
    to: '(value == null || (Array.isArray(value) && value.length === 0) ? null : operator.apply',
  },
  {
    name: 'the first of several ids alone is looked for',
    file: 'plugins/ConnectionArgumentsPlugin.ts',
    from: 'const rows = decodeNodeIds(ids).flatMap(',
    to: 'const rows = decodeNodeIds(ids).slice(0, 1).flatMap(',
  },
  {
    name: 'an empty list of ids is no filter',
    file: 'plugins/ConnectionArgumentsPlugin.ts',
    from: 'if (ids == null) return;',
    to: 'if (ids == null || ids.length === 0) return;',
  },
];

/** In cursors and pages. */
const cursors: readonly PlantedFault[] = [
  {
    name: 'cursors of any order are taken',
    file: 'plugins/ConnectionArgumentsPlugin.ts',
    from: 'return digest === expected && values.length',
    to: 'return values.length',
  },
  {
    name: 'a compiled cursor has its values in the other order',
    file: 'packages/grafast-compile/src/computeStep.ts',
    from: '...indicies.map(({ index, codec }) => codec.fromPg(values[index]))]',
    to: '...indicies.map(({ index, codec }) => codec.fromPg(values[index])).reverse()]',
  },
  {
    name: 'a page of none has a next one',
    file: 'packages/grafast-compile/src/subqueryRows.ts',
    from: 'first != null && last == null && first !== 0 && hasMore',
    to: 'first != null && last == null && hasMore',
  },
  {
    name: 'a page from the end comes backwards',
    file: 'packages/grafast-compile/src/subqueryRows.ts',
    from: 'items: shouldReverseOrder ? items.toReversed() : items,',
    to: 'items,',
  },
  {
    name: 'a page has the row after it, too',
    file: 'packages/grafast-compile/src/subqueryRows.ts',
    from: 'if (hasMore) {',
    to: 'if (hasMore && limit > 2) {',
  },
];

/** In compiled code. */
const compiled: readonly PlantedFault[] = [
  {
    name: 'statements with pages of other sizes are one',
    file: 'packages/grafast-compile/src/StatementShape.ts',
    from: 'this.key += text + end;',
    to: 'this.key += end;',
  },
  {
    name: 'values are bound in the other order',
    file: 'packages/grafast-compile/src/compileStatement.ts',
    from: 'return place === -1 ? parameter : shape.values[place];',
    to: 'return place === -1 ? parameter : shape.values[shape.values.length - 1 - place];',
  },
  {
    name: 'a plan serves variables that it was not made for',
    file: 'packages/grafast-compile/src/CompiledOperations.ts',
    from: 'matchesConstraints(variableValuesConstraints, variables) &&',
    to: '',
  },
  {
    name: 'what was computed for the first row is used for all',
    file: 'packages/grafast-compile/src/LayerCompiler.ts',
    from: 'if (this.isSingle) {\n      return',
    to: 'if (this.registers) {\n      return',
  },
  {
    name: 'a row that is not there is an object',
    file: 'packages/grafast-compile/src/computeStep.ts',
    from: 'return row?.[nullCheckAttributeIndex] == null ? null : row;',
    to: 'return row ?? null;',
  },
  {
    name: 'the text NULL is null',
    file: 'packages/grafast-compile/src/parseRows.ts',
    from: 'return value + text.slice(start, end);',
    to: "return (text.slice(start, end) === 'NULL' ? null : value + text.slice(start, end)) as string;",
  },
  {
    name: 'a backslash in a row within a row is lost',
    file: 'packages/grafast-compile/src/parseRows.ts',
    from: "} else {\n        value += '\\\\'.repeat(backslashes / doubled);",
    to: "} else {\n        value += '';",
  },
  {
    name: 'an id has the type of another interface member',
    file: 'packages/grafast-compile/src/writeNodeId.ts',
    from: '${(type as Step & ConstantStep).data}:',
    to: "${String((type as Step & ConstantStep).data).replace('NfcCard', 'BeaconCard')}:",
  },
];

/** In codecs. */
const codecs: readonly PlantedFault[] = [
  {
    name: 'texts are normalized',
    file: 'packages/grafast-compile/src/computeStep.ts',
    from: 'return text == null ? null : pgCodec.fromPg(text);',
    to: 'return text == null ? null : pgCodec.fromPg(text.normalize());',
  },
  {
    name: 'times have milliseconds',
    file: 'plugins/TextFormsPlugin.ts',
    from: `[TYPES.timestamptz, dated('YYYY-MM-DD"T"HH24:MI:SS.USTZH:TZM')],`,
    to: `[TYPES.timestamptz, dated('YYYY-MM-DD"T"HH24:MI:SS.MS"000"TZH:TZM')],`,
  },
];

/** In what becomes of a run that fails. */
const replay: readonly PlantedFault[] = [
  {
    name: 'what one statement found answers another of the same text',
    file: 'src/graphql/statements.ts',
    from: `    try {
      const { rows } = await this.#runVerified(source, settings, statement);
      return rows as readonly Row[];
    } catch`,
    to: `    const recorded = ((failed as unknown as { recorded?: { text: string; rows: unknown }[] }).recorded ??= []);
    try {
      const found = this.#isUndone ? recorded.findIndex(({ text }) => text === statement.text) : -1;
      if (found !== -1) return recorded.splice(found, 1)[0]?.rows as readonly Row[];
      const { rows } = await this.#runVerified(source, settings, statement);
      recorded.push({ text: statement.text, rows });
      return rows as readonly Row[];
    } catch`,
  },
];

/** In policies, and what they ask. */
const policies: readonly PlantedFault[] = [
  { name: 'people read all units', policy: 'select_graph_user', table: 'app_public.units', using: ofOrganization },
  {
    name: 'people read the units granted to them without those below',
    ...{ policy: 'select_graph_user', table: 'app_public.units' },
    using: `${ofOrganization} and id = any (app_hidden.granted_unit_ids())`,
  },
  { name: 'people read all users', policy: 'select_graph_user', table: 'app_public.users', using: ofOrganization },
  {
    name: 'people read all assignments',
    ...{ policy: 'select_graph_user', table: 'app_public.card_assignments', using: ofOrganization },
  },
  { name: 'people read all cards', policy: 'select_graph_user', table: 'app_public.cards', using: ofOrganization },
  {
    name: 'people read all grants',
    ...{ policy: 'select_graph_user', table: 'app_hidden.unit_access', using: ofOrganization },
  },
  { name: 'applications read units of others', policy: 'select_graph_app', table: 'app_public.units', using: 'true' },
  { name: 'applications read cards of others', policy: 'select_graph_app', table: 'app_public.cards', using: 'true' },
  {
    name: 'a basic token reads users',
    ...{ policy: 'select_graph_basic', table: 'app_public.users', using: ofOrganization },
  },
  {
    name: 'one grant of a person counts',
    function: 'app_hidden.granted_unit_ids',
    from: 'select unit_id',
    to: 'select min(unit_id::text)::uuid',
  },
];

/** Found by asking queries. */
export const faultsOfQueries: readonly PlantedFault[] = [
  ...plans,
  ...filters,
  ...cursors,
  ...compiled,
  ...codecs,
  ...replay,
  ...policies,
];
