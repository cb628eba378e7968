import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Makes what is packed of a workspace that runs from its TypeScript: JavaScript, declarations and paths to them.
 *
 * Node.js strips no types below a folder `node_modules`, so a package needs JavaScript. npm reads `package.json` again after `prepack`, and
 * `postpack` puts back the workspace's own: `node pack.ts` and `node pack.ts --undo`.
 */
const manifest = new URL('package.json', import.meta.url);
const own = new URL('package.json.own', import.meta.url);
const dist = new URL('dist', import.meta.url);

// An interrupted `npm pack` leaves it here.
if (existsSync(own)) renameSync(own, manifest);
rmSync(dist, { recursive: true, force: true });

if (!process.argv.includes('--undo')) {
  execFileSync('tsc', ['-p', 'tsconfig.pack.json'], { cwd: import.meta.dirname, stdio: 'inherit' });
  const text = readFileSync(manifest, 'utf8');
  copyFileSync(manifest, own);
  writeFileSync(manifest, text.replaceAll(/\bsrc\/([\w/]+)\.ts\b/g, 'dist/$1.js'));
}
