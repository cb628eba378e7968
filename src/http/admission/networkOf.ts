import { isIPv6 } from 'node:net';

/**
 * The rate-limit key of an address: IPv4 itself, IPv6 its /64.
 * One customer has a /64 at least (RFC 6177). A port and a zone that a proxy wrote behind it do not count.
 */
export function networkOf(address: string): string {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip;
}

/** The /48 of an IPv6 address, of which a customer may have all networks (RFC 6177); else null. */
export function siteOf(address: string): string | null {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 3).join(':')}::/48` : null;
}

/** Without port and zone, and an IPv4 address that is written as one of IPv6 as itself. */
function bareAddress(address: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
  const [ip = ''] = bare.split('%', 1);
  return /^::ffff:([\d.]+)$/i.exec(ip)?.[1] ?? ip;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(ip: string): string[] {
  // The URL parser writes every address in one way (RFC 5952).
  const canonical = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}
