import type { PgProc } from 'postgraphile/graphile-build-pg/pg-introspection';

/** Stops the build where PostGraphile would warn, and leave out a `@mutation` or `@param` function. */
export const UncallableFunctionsPlugin: GraphileConfig.Plugin = {
  name: 'UncallableFunctionsPlugin',

  gather: {
    async main(_output, { helpers, resolvedPreset }) {
      for (const { introspection, pgService } of await helpers.pgIntrospection.getIntrospection()) {
        const schemas = resolvedPreset.pgServices?.find(({ name }) => name === pgService.name)?.schemas ?? [];
        const functions = introspection.procs.filter((proc) => schemas.includes(proc.getNamespace()?.nspname ?? ''));
        for (const proc of functions.filter(isForClients)) {
          const reason =
            reasonOf(proc, functions) ??
            ((await helpers.pgProcedures.getResourceOptions(pgService.name, proc)) ? null : ofUnknownType);
          if (reason) throw new Error(`The function ${proc.getNamespace()?.nspname}.${proc.proname} ${reason}`);
        }
      }
    },
  },
};

function isForClients(proc: PgProc): boolean {
  const { tags } = proc.getTagsAndDescription();
  return tags.mutation !== undefined || tags.param !== undefined;
}

/** The reason why a function cannot be a field; null when it can. */
function reasonOf(proc: PgProc, functions: readonly PgProc[]): string | null {
  const { proname, provariadic, prokind } = proc;
  if (functions.some((other) => other !== proc && other.proname === proname))
    return 'is there more than once, with other parameters; give each a name of its own';
  if (provariadic && provariadic !== '0') return 'has a VARIADIC parameter; take an array instead';
  if (prokind && prokind !== 'f')
    return 'is no function that can be called for a result; create function, not procedure';
  if (proname.startsWith('__')) return 'has a name that begins with __, which GraphQL keeps to itself';
  return null;
}

const ofUnknownType =
  'takes or returns what GraphQL does not have, such as anyelement, or a record without names for what is in it';
