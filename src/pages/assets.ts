import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { chooseEncoding, type Encoding } from '../http/compression.ts';

/**
 * Serves the files of folders by their names, under a path that holds a hash of all of them.
 * So a browser may keep each for a year. Relative references between the files work.
 *
 * @param basePath the path of the service's base URL, without a slash at its end
 * @param isWanted selects files by their path in the folder; all, unless given
 * @returns the path of the files, with a slash at its end, which changes with their content
 */
export async function serveAssets(
  basePath: string,
  name: string,
  folders: string | readonly string[],
  isWanted: (file: string) => boolean = () => true,
) {
  const files = (await Promise.all([folders].flat().map((folder) => listFiles(folder, isWanted)))).flat();
  const mountPath = `/assets/${name}-${await hashFiles(files)}/`;
  const answers = new Map<string, Compressed>(
    files.map(({ file, path }) => [mountPath + file, compressed(extname(file), () => readFile(path))]),
  );

  const answer: RequestHandler = async (request, response, next) => {
    const send = answers.get(request.path);
    if (!send || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    response.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      // For workers, to which the page's policy does not apply, and for a file that is opened by itself.
      'Content-Security-Policy': "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'",
    });
    await send(request, response);
  };
  return { path: basePath + mountPath, router: Router().use(answer) };
}

/** Its path in its folder, and in the file system. */
type AssetFile = { readonly file: string; readonly path: string };

async function listFiles(folder: string, isWanted: (file: string) => boolean): Promise<AssetFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isWanted)
    .sort()
    .map((file) => ({ file, path: join(folder, file) }));
}

async function hashFiles(files: readonly AssetFile[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { file, path } of files) hash.update(`${file}\0`).update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}

/** Answers each request with the same bytes. */
type Compressed = (request: Request, response: Response) => Promise<void>;

/**
 * Sends a constant body: compressed once for each encoding, at the first request, and then kept.
 *
 * @param type a media type, or the extension of a file
 */
export function compressed(type: string, load: () => Promise<Buffer>): Compressed {
  const bodies = new Map<Encoding, Promise<Buffer>>();
  const bodyIn = (encoding: Encoding) => {
    const body = bodies.get(encoding) ?? load().then(encoders[encoding]);
    bodies.set(encoding, body);
    // A file that cannot be read now may be readable later.
    body.catch(() => bodies.delete(encoding));
    return body;
  };

  return async (request, response) => {
    response.vary('Accept-Encoding').type(type);
    const encoding = isText(response.get('Content-Type') ?? '') ? chooseEncoding(request) : 'identity';
    const body = await bodyIn(encoding);
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    response.send(body);
  };
}

// Brotli's quality 5 is much faster than 9, and hardly larger.
const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  identity: async (body) => body,
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
};

const isText = (type: string) => /^(text\/|application\/(json|wasm)|image\/svg)/.test(type);
