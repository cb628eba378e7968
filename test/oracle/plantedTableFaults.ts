// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files
import type { PlantedFault } from './plantFault.ts';

/** Found by asking about tables that a team might add. */
export const faultsOfTables: readonly PlantedFault[] = [
  {
    name: 'statements with other SQL are one',
    file: 'packages/grafast-compile/src/StatementShape.ts',
    from: 'this.key += node.t;',
    to: '',
  },
  {
    name: 'a filter until a value has the value, too',
    file: 'plugins/ColumnFiltersPlugin.ts',
    from: 'until: comparing(sql`<`,',
    to: 'until: comparing(sql`<=`,',
  },
  {
    name: 'rows without a value are on the other side',
    file: 'plugins/OrdersPlugin.ts',
    from: 'sql`(${value} is distinct from null)`',
    to: 'sql`(${value} is not distinct from null)`',
  },
  {
    name: 'rows without a value are one with others',
    file: 'plugins/OrdersPlugin.ts',
    from: 'query.orderBy({ fragment: column, codec: inCursors, direction, nullable: true });',
    to: '',
  },
  {
    name: 'a time has the digits that it happens to have',
    file: 'plugins/TextFormsPlugin.ts',
    from: "${digits.padEnd(6, '0')}",
    to: '${digits}',
  },
  {
    name: 'an interval has whole seconds',
    file: 'plugins/TextFormsPlugin.ts',
    from: 'seconds: Number(seconds) + Number(microseconds) / 1_000_000',
    to: 'seconds: Number(seconds)',
  },
  {
    name: 'a char has spaces behind it',
    file: 'plugins/TextFormsPlugin.ts',
    from: '[TYPES.bpchar, { castFromPg: castToText,',
    to: '[TYPES.bpchar, { castFromPg: (fragment) => sql`rpad((${fragment})::text, 4)`,',
  },
  {
    name: 'an oid has a sign',
    file: 'plugins/OidPlugin.ts',
    from: '? Number(value) : Number.NaN;',
    to: '? Number(value) | 0 : Number.NaN;',
  },
  {
    name: 'a domain over a number is given as a string',
    file: 'plugins/ScalarInputPlugin.ts',
    from: 'if (base && notTexts.has(base)) return config;',
    to: 'if (base === codec && base && notTexts.has(base)) return config;',
  },
  {
    name: 'the history keeps the values of secrets',
    function: 'audit.record_rows',
    from: "case tg_op when 'INSERT' then kept - known.secrets end",
    to: "case tg_op when 'INSERT' then kept end",
  },
  {
    name: 'a change names its row by a part of the key',
    function: 'feed.record_rows',
    from: 'e.type, e.key,',
    to: 'e.type, e.key[2:],',
  },
  {
    name: 'the arguments of a mutation change places',
    file: 'plugins/functions/FunctionMutationsPlugin.ts',
    from: 'args.map((arg, index) => passed(arg, access($values, index)));',
    to: 'args.map((arg, index) => passed(arg, access($values, args.length - 1 - index)));',
  },
];
