import type { Command } from 'commander';

/**
 * Adds to the help of each command an example, and names this help after a mistake in its arguments.
 *
 * @param script the script of npm that runs the program
 * @param examples the arguments, by the name of the command
 * @throws when a command has none
 */
export function addExamples(program: Command, script: string, examples: Readonly<Record<string, string>>): void {
  for (const command of program.commands) {
    const example = examples[command.name()];
    if (example === undefined) throw new Error(`${script} ${command.name()} has no example.`);
    command.showHelpAfterError(`\`npm run -s ${script} -- ${command.name()} --help\` shows its arguments and options.`);
    command.addHelpText('after', `\nExample:\n  npm run -s ${script} -- ${example}`);
  }
}
