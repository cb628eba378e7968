/**
 * A domain over a composite type is that type in the graph, in columns, attributes and what functions return.
 * PostGraphile has no table of such a domain, and would leave out without a word what is of it. Parameters keep their domain.
 */
export const CompositeDomainsPlugin: GraphileConfig.Plugin = {
  name: 'CompositeDomainsPlugin',

  gather: {
    hooks: {
      pgIntrospection_introspection(_info, { introspection }) {
        const { attributes, procs, types } = introspection;
        const byId = new Map(types.map((type) => [type._id, type]));
        /** The composite type beneath domains, or the array of it; null for any other type. */
        const compositeOf = (id: string | null): string | null => {
          const type = byId.get(id ?? '');
          if (type?.typtype === 'c') return type._id;
          if (type?.typtype === 'd') return compositeOf(type.typbasetype);
          if (type?.typcategory !== 'A') return null;
          return byId.get(compositeOf(type.typelem) ?? '')?.typarray ?? null;
        };
        const shown = (id: string) => compositeOf(id) ?? id;

        for (const attribute of attributes) {
          if (byId.get(attribute.atttypid)?.typnotnull) attribute.attnotnull = true;
          attribute.atttypid = shown(attribute.atttypid);
        }
        for (const proc of procs) {
          const { proallargtypes, proargmodes } = proc;
          proc.prorettype = shown(proc.prorettype);
          if (proallargtypes && proargmodes)
            proc.proallargtypes = proallargtypes.map((id, index) =>
              /[obt]/.test(proargmodes[index] ?? '') ? shown(id) : id,
            );
        }
      },
    },
  },
};
