import { until } from '../support/until.ts';
import { createCopy } from './createCopy.ts';

/** `npm run dev` in a copy of its own. */
export async function startDev(createDataDirectory?: () => Promise<string>) {
  const copy = await createCopy(createDataDirectory);
  const server = copy.start(['dev']);
  await server.says('Save migrations/current.sql');
  return {
    copy,
    server,
    /** What the terminal shows of one save. */
    async save(sql: string): Promise<string> {
      const before = server.output.stdout.length;
      const report = () => server.output.stdout.slice(before);
      await copy.save(sql);
      await until(async () => /(Migrated and reloaded|The schema stays as it was)[\s\S]*\n$/.test(report()));
      return report();
    },
    async stop(): Promise<void> {
      server.signal('SIGTERM');
      await server.exited;
      await copy.remove();
    },
  };
}

export type Dev = Awaited<ReturnType<typeof startDev>>;

/** The lines of a report that name a place in the migration. */
export const placesIn = (report: string) =>
  report.split('\n').filter((line) => line.includes('migrations/current.sql:'));
