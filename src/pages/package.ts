import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The version and the folder of an installed package. */
export function findPackage(name: string): { readonly version: string; readonly folder: string } {
  const file = findPackageJSON(name, import.meta.url);
  if (!file) throw new Error(`The package ${name} is not installed; run npm ci`);
  return { version: readVersion(file), folder: dirname(file) };
}

export const serviceVersion = readVersion(new URL('../../package.json', import.meta.url));

function readVersion(file: string | URL): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
