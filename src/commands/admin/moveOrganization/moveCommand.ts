import type { Command } from 'commander';
import type { Run } from '../withOwner.ts';
import { type MoveOptions, moveOrganization } from './moveOrganization.ts';

/** Declares `move-organization`. */
export function addMoveCommand(program: Command, run: Run): void {
  program
    .command('move-organization')
    .description(
      'moves an organization to another cell: copies it while it works, then cuts over (docs/outgrowing-one-machine.md)',
    )
    .argument('<name>', 'the name of the organization')
    .requiredOption('--to <url>', "a superuser's URL of the other cell's database")
    .option('--from <url>', 'by which PostgreSQL there reaches this database; DATABASE_URL unless given')
    .option('--cut-over', 'stops the organization for a moment, compares both cells, and has the other one serve it')
    .option('--drop', 'deletes here what has moved; its history stays')
    .option('--abort', 'leaves both cells as they were before the move, until the cut-over is over')
    .action(async (name: string, options: MoveOptions, command: Command) => {
      if ([options.cutOver, options.drop, options.abort].filter(Boolean).length > 1)
        return command.error('error: one of --cut-over, --drop and --abort at a time');
      await run(({ ownerUrl, keys: [key] }) => moveOrganization({ ownerUrl, key }, name, options, showOnTerminal()));
    });
}

/** Shows the progress to a person, at most once a second; a script reads the result alone. */
function showOnTerminal(): (message: string) => void {
  let last = 0;
  return (message) => {
    if (!process.stderr.isTTY || performance.now() - last < 1000) return;
    last = performance.now();
    process.stderr.write(`${message}\n`);
  };
}
