import { withPgClientFromPgService } from 'postgraphile/@dataplan/pg';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      /** The tables and views that are followed, as the change feed names them. */
      followedRelations: readonly string[];
    }
  }
}

/**
 * Reads from the catalogue which tables the change feed follows, so that their types are the values of the enum FollowedType.
 * `feed.followed()` says the same to roles that may call it; the login role, which reads the catalogue, may call no function.
 */
export const FollowedTypesPlugin: GraphileConfig.Plugin = {
  name: 'FollowedTypesPlugin',

  gather: {
    async main(output, { resolvedPreset }) {
      const relations = (resolvedPreset.pgServices ?? []).map((service) =>
        withPgClientFromPgService(service, service.pgSettingsForIntrospection ?? null, async (client) => {
          const { rows } = await client.query<{ relation: string }>({ text: followed });
          return rows.map(({ relation }) => relation);
        }),
      );
      output.followedRelations = (await Promise.all(relations)).flat();
    },
  },
};

/** The first argument of the trigger. By names: a cast would need the right to use the schema. */
const followed = `
  select distinct split_part(encode(t.tgargs, 'escape'), '\\000', 1) as relation
  from pg_trigger t
  join pg_proc p on p.oid = t.tgfoid
  join pg_namespace s on s.oid = p.pronamespace
  where t.tgname = 'follow_insert' and s.nspname = 'feed' and p.proname = 'record_rows' and not t.tgisinternal
  order by 1`;
