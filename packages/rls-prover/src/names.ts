import type { FuncCall, Node } from './parse.ts';

/** A name as it is written, its schema first. */
export const pathOf = (path: readonly Node[]): string =>
  path.map((part) => ('String' in part ? (part.String.sval ?? '') : '')).join('.');

/** All names of functions, operators and types within parse trees. */
export function namesIn(nodes: unknown): { calls: Set<string>; operators: Set<string>; types: Set<string> } {
  // A `case` with an argument and `using` compare without saying so.
  const names = { calls: new Set<string>(), operators: new Set(['=']), types: new Set<string>() };
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const target = targets[key];
      if (target && Array.isArray(value))
        names[target].add(pathOf(value as Node[]) + (key === 'funcname' ? givenTo(node as FuncCall) : ''));
      // The name of an `A_Expr` is an operator's; that of other nodes is a text.
      else if (key === 'name' && Array.isArray(value)) names.operators.add(pathOf(value as Node[]));
      walk(value);
    }
  };
  walk(nodes);
  return names;
}

/** The literal that `set_config` sets. */
function givenTo({ funcname, args: [setting] = [] }: FuncCall): string {
  const name = setting && 'A_Const' in setting ? setting.A_Const.sval?.sval : undefined;
  return name && /^(pg_catalog\.)?set_config$/.test(pathOf(funcname ?? [])) ? `(${name})` : '';
}

const targets: Readonly<Record<string, 'calls' | 'operators' | 'types'>> = {
  ...{ funcname: 'calls', operName: 'operators', useOp: 'operators', names: 'types' },
};
