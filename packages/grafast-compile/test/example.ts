import { createCompilationPreset, executeCompiled } from 'grafast-compile';
import { makeSchema } from 'postgraphile';
import type { WithPgClient } from 'postgraphile/@dataplan/pg';
import { execute, hookArgs } from 'postgraphile/grafast';
import { type DocumentNode, getOperationAST, getVariableValues } from 'postgraphile/graphql';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

// README.md quotes this file. The tests of the application run it on a database.

/** A server of valid documents. The same document must be the same object each time. */
export async function createServer(preset: GraphileConfig.Preset, onUnknown: (reason: string) => void) {
  const compilation = createCompilationPreset({ maxBytes: 10_000_000, onUnknown });
  const { schema, resolvedPreset } = await makeSchema({ extends: [PostGraphileAmberPreset, preset, compilation] });

  return async (document: DocumentNode, variableValues: Record<string, unknown>) => {
    const operation = getOperationAST(document);
    if (!operation) throw new Error('The document has no operation, or several');
    const args = { schema, document, variableValues, resolvedPreset, requestContext: {}, outputDataAsString: true };
    const hooked = await hookArgs(args);
    const context = hooked.contextValue as { withPgClient: WithPgClient; pgSettings: Record<string, string> | null };
    const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues).coerced ?? {};
    return executeCompiled({
      ...{ schema, operation, variables, context },
      runGrafast: async (added) => (await execute({ ...hooked, contextValue: { ...context, ...added } })) as never,
      runCompiled: ({ run }) =>
        run(variables, context, async ({ name, text, values }) => {
          const statement = { name, text, values: [...values], arrayMode: true };
          return (await context.withPgClient(context.pgSettings, (client) => client.query(statement))).rows as never;
        }),
    });
  };
}
