import type { Introspection, PgProc } from 'postgraphile/graphile-build-pg/pg-introspection';

/**
 * Stops the build where PostGraphile would warn, and leave out a `@mutation` or `@param` function.
 * Other functions that have no types in the graph are left out before PostGraphile prints each: audit.graph_lints finds them.
 */
export const UncallableFunctionsPlugin: GraphileConfig.Plugin = {
  name: 'UncallableFunctionsPlugin',

  gather: {
    hooks: {
      pgIntrospection_introspection({ resolvedPreset }, { introspection, serviceName }) {
        const { procs } = introspection;
        const schemas = resolvedPreset.pgServices?.find(({ name }) => name === serviceName)?.schemas ?? [];
        const functions = procs.filter((proc) => schemas.includes(proc.getNamespace()?.nspname ?? ''));
        const untyped = new Set(functions.filter((proc) => isAlone(proc, functions) && isUntyped(proc, introspection)));
        for (const proc of functions.filter(isForClients)) {
          const reason = reasonOf(proc, functions) ?? (untyped.has(proc) ? ofUnknownType : null);
          if (reason) throw new Error(`The function ${proc.getNamespace()?.nspname}.${proc.proname} ${reason}`);
        }
        // In place: the functions are announced from this list.
        for (const proc of untyped) procs.splice(procs.indexOf(proc), 1);
      },
    },
  },
};

function isForClients(proc: PgProc): boolean {
  const { tags } = proc.getTagsAndDescription();
  return tags.mutation !== undefined || tags.param !== undefined;
}

/** Whether it takes or returns a pseudo-type, save `void`, or a record that says what is in it. */
function isUntyped(proc: PgProc, { types }: Introspection): boolean {
  const outputs = proc.proargmodes?.filter((mode) => ['o', 'b', 't'].includes(mode)) ?? [];
  const taken = proc.proallargtypes ?? proc.proargtypes ?? [];
  const returned = outputs.length > 0 ? [] : [proc.prorettype];
  const used = types.filter(({ _id }) => [...taken, ...returned].includes(_id));
  return used.some(({ typtype, typname }) => typtype === 'p' && typname !== 'void');
}

/** PostGraphile leaves out all functions of one name. */
const isAlone = (proc: PgProc, functions: readonly PgProc[]) =>
  !functions.some((other) => other !== proc && other.proname === proc.proname);

/** The reason why a function cannot be a field; null when it can. */
function reasonOf(proc: PgProc, functions: readonly PgProc[]): string | null {
  const { proname, provariadic, prokind } = proc;
  if (!isAlone(proc, functions)) return 'is there more than once, with other parameters; give each a name of its own';
  if (provariadic && provariadic !== '0') return 'has a VARIADIC parameter; take an array instead';
  if (prokind && prokind !== 'f')
    return 'is no function that can be called for a result; create function, not procedure';
  if (proname.startsWith('__')) return 'has a name that begins with __, which GraphQL keeps to itself';
  return null;
}

const ofUnknownType =
  'takes or returns what GraphQL does not have, such as anyelement, or a record without names for what is in it';
