import { isIPv6 } from 'node:net';

/**
 * The rate-limit key of an address: IPv4 itself, IPv6 its /64.
 * One customer has at least a /64 (RFC 6177). A zone, and a port that a proxy has added, are ignored.
 */
export function networkOf(address: string): string {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip;
}

/** The /48 of an IPv6 address, all of which one customer may have (RFC 6177); else null. */
export function siteOf(address: string): string | null {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 3).join(':')}::/48` : null;
}

/** An address without port and zone; an IPv4 address in IPv6 notation becomes plain. */
function bareAddress(address: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
  const [ip = ''] = bare.split('%', 1);
  return /^::ffff:([\d.]+)$/i.exec(ip)?.[1] ?? ip;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(ip: string): string[] {
  // The URL parser writes every address in one form (RFC 5952).
  const canonical = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}
