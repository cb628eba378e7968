import type { FuncCall, Node } from './parse.ts';

/** A name, its schema first. A part that has a dot itself stands in quotes, so that no name is read as another one. */
const joined = (parts: readonly string[]): string =>
  parts.map((part) => (/[."]/.test(part) ? JSON.stringify(part) : part)).join('.');

/** The parts of a name in a parse tree. */
export const textsOf = (path: readonly Node[]): string[] =>
  path.map((part) => ('String' in part ? (part.String.sval ?? '') : ''));

/** A name as it is written in a parse tree. */
export const pathOf = (path: readonly Node[]): string => joined(textsOf(path));

/** The parts of a name as PostgreSQL prints it, in quotes where it needs them. */
export const partsOf = (printed: string): string[] =>
  [...printed.matchAll(/"((?:[^"]|"")*)"|[^".]+/g)].map(([part, quoted]) => quoted?.replaceAll('""', '"') ?? part);

/** The name that a parse tree has for what PostgreSQL prints. */
export const unquoted = (printed: string): string => joined(partsOf(printed));

/**
 * The names in parse trees: of functions, operators, types and relations, of fields such as `name` in `u.name`, of relations that statements
 * change, and all keys of nodes, such as `whereClause`.
 */
type Names = Readonly<
  Record<'calls' | 'fields' | 'operators' | 'types' | 'relations' | 'changed' | 'keys', ReadonlySet<string>>
>;

const memory = new WeakMap<object, Names>();

/** All names within parse trees. A tree is walked once. */
export function namesIn(trees: object): Names {
  const known = memory.get(trees);
  if (known) return known;
  const [calls, types, relations, keys] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  const [changed, fields] = [new Set<string>(), new Set<string>()];
  // A `case` with an argument and `using` compare without saying so.
  const operators = new Set(['=']);
  const targets: Readonly<Record<string, Set<string>>> = {
    operName: operators,
    useOp: operators,
    name: operators,
  };
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      keys.add(key);
      if (/^(Insert|Update|Delete|Merge)Stmt$/.test(key)) changed.add(targetOf(value));
      // The name of an `A_Expr` is an operator's; that of other nodes is a text.
      if (key === 'funcname') calls.add(pathOf(value) + givenTo(node as FuncCall));
      // The catalogue has the names of types without quotes.
      else if (key === 'names') types.add(textsOf(value).join('.'));
      else if (key === 'fields' || key === 'indirection')
        for (const field of textsOf(key === 'fields' ? value.slice(1) : value)) fields.add(field);
      else if (Array.isArray(value)) targets[key]?.add(pathOf(value));
      else if (key === 'relname' && 'schemaname' in node)
        relations.add(joined([String(node.schemaname), String(value)]));
      walk(value);
    }
  };
  walk(trees);
  const names = { calls, fields, operators, types, relations, changed, keys };
  memory.set(trees, names);
  return names;
}

/** The relation that a statement changes; without a schema it is none of the catalogue's. */
const targetOf = ({ relation }: { relation?: { schemaname?: string; relname?: string } }): string =>
  joined([relation?.schemaname ?? '', relation?.relname ?? '']);

/** The columns of `old`, `new` and `claims` that an invariant's expression names. */
export const referencesIn = (expression: Node): { row: string; column: string }[] =>
  [...JSON.stringify(expression).matchAll(reference)].map(([, row = '', column = '']) => ({ row, column }));

const reference = /\{"String":\{"sval":"(old|new|claims)"\}\},\{"String":\{"sval":"([^"]*)"\}\}/g;

/** The literal that `set_config` sets. */
function givenTo({ funcname, args: [setting] = [] }: FuncCall): string {
  const name = setting && 'A_Const' in setting ? setting.A_Const.sval?.sval : undefined;
  return name && /^(pg_catalog\.)?set_config$/.test(pathOf(funcname ?? [])) ? `(${name})` : '';
}
