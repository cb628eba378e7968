import type { CompilationOptions } from 'grafast-compile';
import type { Pool } from 'pg';
import { makeSchema } from 'postgraphile';
import { readMigrations } from '../../database/migrations/watchMigrations.ts';
import { explainBuildError } from './explainBuildError.ts';
import { createPreset } from './preset.ts';

/** The schema generated from the database, and the preset for its operations. */
export type Graph = Awaited<ReturnType<typeof buildGraph>>;

/** Reads the catalogue as the authenticator. @throws {SchemaError} when names meet, or a comment or a plugin contradicts it */
export async function buildGraph(pool: Pool, compilation: CompilationOptions = notCompiled) {
  /** The migrations that the database had before it was introspected. */
  const migrations = await readMigrations(pool);
  const preset = createPreset(pool, compilation);
  const { schema, resolvedPreset } = await makeSchema(preset).catch(async (error: unknown) => {
    throw await explainBuildError(error, preset);
  });
  /** Releases PostGraphile's resources; the pool stays open. */
  const release = async () => {
    for (const service of resolvedPreset.pgServices ?? []) await service.release?.();
  };
  return { schema, resolvedPreset, migrations, release };
}

const notCompiled: CompilationOptions = { isEnabled: false };
