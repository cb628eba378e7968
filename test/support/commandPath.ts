import { fileURLToPath } from 'node:url';

/** The PATH of a shell; the stand-in for curl comes last, for machines that have none. */
export const commandPath = `${process.env.PATH}:${fileURLToPath(new URL('bin', import.meta.url))}`;
