import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * The reason why nothing can be sent to a URL, judged by its text alone; null when it can (SSRF).
 * The URL parser (WHATWG) converts each spelling of an IPv4 address, such as `0x7f.1`, to the usual one.
 *
 * @param allowsPrivate also accepts http and addresses that are not public
 */
export function problemOfUrl(text: string, allowsPrivate: boolean): string | null {
  if (unprintable.test(text)) return 'url must have no control characters, and no spaces at its ends.';
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text)) return 'url is no absolute https URL.';
  if (url.protocol !== 'https:' && !allowsPrivate) return 'url must begin with https://.';
  if (url.username || url.password) return 'url must have no user or password.';
  if (text.includes('#')) return 'url must have no fragment.';
  if (blockedPorts.has(url.port)) return 'url has a port that is not for HTTP.';
  const host = hostOf(url);
  if (!allowsPrivate && (isIP(host) ? !isPublic(host) : isLocalName(host))) return 'url must have a public address.';
  return null;
}

/** What the URL parser removes in silence, and others that look like nothing: C0, C1, DEL, line separators, spaces at the ends. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u;

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

const isLocalName = (host: string) => /(^|\.)localhost\.?$/.test(host);

/**
 * Whether the Internet routes to an address, by IANA's special-purpose registries (RFC 6890).
 * For IPv6 only the assigned range 2000::/3 counts, and translated addresses, which are judged by the IPv4 within: packets go there. Behind
 * NAT64 a resolver answers with nothing else for a host of IPv4 (DNS64, RFC 6147).
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, 'ipv4');
  return routed.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/**
 * A DNS lookup for connections that returns only public addresses.
 * It uses c-ares and not the system's getaddrinfo, which would block one of the process' few threads while a name server is silent.
 */
export function createPublicLookup(resolver: Pick<Resolver, 'resolve4' | 'resolve6'>): LookupFunction {
  return (hostname, options, callback) => {
    const found = Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    void found.then(([four, six]) => {
      if (four.status === 'rejected' && six.status === 'rejected') return callback(four.reason as Error, '', 0);
      const addresses = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const usable = addresses.filter(isPublic).map((address) => ({ address, family: isIP(address) }));
      const [first] = usable;
      if (!first) callback(new NotPublicError(), '', 0);
      else if (options.all) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

export const lookUpPublic = createPublicLookup(new Resolver({ timeout: 2000, tries: 2 }));

/** The name, or the URL, has an address that gets no webhooks. */
export class NotPublicError extends Error {
  override name = 'NotPublicError';
}

const subnets = (list: BlockList, text: string, family: 'ipv4' | 'ipv6') => {
  for (const subnet of text.split(' ')) {
    const [net = '', prefix] = subnet.split('/');
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
};

const notPublicIpv4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
/** Teredo and other special purposes; 6to4, whose relays are gone (RFC 7526); documentation. */
const notPublicIpv6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';
/**
 * A translated address is one of these prefixes and an IPv4 address: NAT64's well-known one (RFC 6052), IPv4-mapped (RFC 4291), SIIT
 * (RFC 2765).
 * A network's own NAT64 prefix (RFC 8215) does not say where the IPv4 address is, so that it is not public.
 */
const translations = ['64:ff9b::', '::ffff:', '::ffff:0:'];

const translated = (subnet: string) => {
  const [net, prefix] = subnet.split('/');
  return translations.map((translation) => `${translation}${net}/${96 + Number(prefix)}`).join(' ');
};
const routed = subnets(new BlockList(), `2000::/3 ${translated('0.0.0.0/0')}`, 'ipv6');
const notPublic = subnets(
  subnets(new BlockList(), notPublicIpv4, 'ipv4'),
  [notPublicIpv6, ...notPublicIpv4.split(' ').map(translated)].join(' '),
  'ipv6',
);

/** Ports of other protocols: https://fetch.spec.whatwg.org/#port-blocking */
const blockedPorts: ReadonlySet<string> = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 ' +
    '143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 ' +
    '3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);
