import { StartupError } from '../errors/startupError.ts';

/** The place of a value in the document: keys and positions, from the top. */
export type Path = readonly PropertyKey[];

export type Problem = { readonly path: Path; readonly message: string };

/** A document that cannot be applied; nothing was changed. */
export class ProvisioningError extends StartupError {
  override name = 'ProvisioningError';
  /** Each as `path: message`, such as `organizations[0].users[2].email: has one @ …`, in order. */
  readonly problems: readonly string[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
    const sorted = [...new Set(lines)].sort(new Intl.Collator('en', { numeric: true }).compare);
    const counted = sorted.length === 1 ? 'there is a problem' : `there are ${sorted.length} problems`;
    super([...sorted, `Nothing was changed: ${counted}.`].join('\n'));
    this.problems = sorted;
  }
}

/** `organizations[0].users[2].email`; keys that are no plain word are quoted: `[0]["e-mail"]`. */
export function formatPath(path: Path): string {
  if (path.length === 0) return 'document';
  return path.map(formatStep).join('').replace(/^\./, '');
}

function formatStep(step: PropertyKey): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[a-z_]\w*$/i.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(String(step))}]`;
}
