/**
 * The results of a subscription from server-sent events; `return` closes the connection.
 *
 * @param {Response} response
 * @param {AbortController} closing
 * @returns {AsyncIterableIterator<unknown>}
 */
export function readResults({ body }, closing) {
  const results = parse(/** @type {ReadableStream<Uint8Array>} */ (body));
  const done = { done: /** @type {const} */ (true), value: undefined };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next().catch((error) => (closing.signal.aborted ? done : Promise.reject(error))),
    async return() {
      closing.abort();
      return done;
    },
  };
}

/** @param {ReadableStream<Uint8Array>} body */
async function* parse(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + decoder.decode(part.value, { stream: true })).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.+)$/m.exec(event)?.[1];
      if (data) yield JSON.parse(data);
    }
  }
}
