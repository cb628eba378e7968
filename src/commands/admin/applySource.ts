import { createSecrets } from '../../crypto/secrets.ts';
import { type Applied, applyDocument } from '../../provisioning/applyDocument.ts';
import type { AdminContext } from './withOwner.ts';

/**
 * `admin apply FILE`; now and then says how far it is.
 *
 * @param source the file's JSON
 * @throws {DocumentError} nothing was changed
 */
export function applySource(source: unknown, { owner, keys, passwords }: AdminContext): Promise<Applied> {
  return applyDocument(owner, source, { secrets: createSecrets(keys), passwords, report: atMostOnceASecond() });
}

function atMostOnceASecond(): (message: string) => void {
  let last = Date.now();
  return (message) => {
    if (Date.now() - last < 1000) return;
    last = Date.now();
    process.stderr.write(`${message}\n`);
  };
}
