import packageJson from '../../package.json' with { type: 'json' };

const words = packageJson.scripts.start.split(' ');

/** How `npm start` starts the service: with which flags, and with which variables. */
export const asStarted: { readonly options: readonly string[]; readonly env: Readonly<Record<string, string>> } = {
  options: words.filter((word) => word.startsWith('--')),
  env: Object.fromEntries(
    words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('=', 2) as [string, string]),
  ),
};
