/**
 * Whether a client may be answered at this address: it is registered, character by character.
 * (RFC 9700 section 4.1.3.) An address may also differ from a registered one only in the port of a loopback IP. A native app gets that port
 * when it starts (RFC 8252 section 7.3).
 */
export function matchesRedirectUri(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const anyPort = withoutLoopbackPort(requested);
  return (
    anyPort !== null &&
    URL.canParse(requested) &&
    registered.some((uri) => (withoutLoopbackPort(uri) ?? uri) === anyPort)
  );
}

/** Null unless it is `http` at a loopback IP. A name such as `localhost` may be another machine's. */
function withoutLoopbackPort(uri: string): string | null {
  const [, origin, rest] = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?([/?].*)?$/.exec(uri) ?? [];
  return origin === undefined ? null : origin + (rest ?? '');
}
