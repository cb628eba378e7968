import { Command, CommanderError } from 'commander';
import { reportFailure } from './reportFailure.ts';

/** A program of several commands, `admin` or `audit`; mistakes in usage are thrown. */
export const createProgram = (name: string, description: string, usage: string, afterHelp: string): Command =>
  new Command(name)
    .description(description)
    .usage(usage)
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError(`\`npm run -s ${name} -- --help\` lists the commands.`)
    .addHelpText('after', `\n${afterHelp}`);

/**
 * Adds to the help of each command an example, and names this help after a mistake in its arguments.
 *
 * @param examples the arguments, by the name of the command
 * @throws when a command has none
 */
export function addExamples(program: Command, examples: Readonly<Record<string, string>>): Command {
  const script = program.name();
  for (const command of program.commands) {
    const example = examples[command.name()];
    if (example === undefined) throw new Error(`${script} ${command.name()} has no example.`);
    command.showHelpAfterError(`\`npm run -s ${script} -- ${command.name()} --help\` shows its arguments and options.`);
    command.addHelpText('after', `\nExample:\n  npm run -s ${script} -- ${example}`);
  }
  return program;
}

/** @returns the exit code. @throws any error of a command except mistakes in usage */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return reportFailure(error);
  }
}
