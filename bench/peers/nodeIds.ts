/**
 * Global ids as the service's NodeIdPlugin writes them. That brings all of PostGraphile along, whose memory and start are not those of
 * the others.
 */
export function encodeNodeId(type: string, key: string): string {
  return Buffer.from(`${type}:${key}`, 'latin1').toString('base64url');
}

/** @throws when it is no id of this type */
export function keyOfNodeId(type: string, id: string): string {
  const [, found, key] = /^(\w+):([\da-f-]{36})$/.exec(Buffer.from(id, 'base64url').toString('latin1')) ?? [];
  if (found !== type || key === undefined) throw new Error(`${id} is no id of a ${type}.`);
  return key;
}
