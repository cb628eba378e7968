import { Client } from 'pg';
import { hasCode } from './errors/errors.ts';

/**
 * Session settings as startup parameters: what our statements rely on, whatever the database, the role or the shell has set.
 * A startup parameter outranks `alter database … set` and `alter role … set`, costs no round trip, and is what RESET returns to. Each
 * one changes what a statement means or how a value is written; docs/operating.md lists the others, which stay the database's own.
 */
export const sessionSettings = {
  DateStyle: 'ISO,MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  xmlbinary: 'base64',
  xmloption: 'content',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  search_path: 'public',
  row_security: 'on',
  gin_fuzzy_search_limit: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  /** A server sets its own. */
  statement_timeout: '0',
  lock_timeout: '0',
} as const;

/** libpq's variables that the driver does not read, or reads otherwise, by their parameters of a URL. */
const libpqVariables = {
  PGOPTIONS: 'options',
  PGSSLMODE: 'sslmode',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A connection URL for the driver: TLS as libpq understands it, what the shell's variables add, and {@link sessionSettings}.
 *
 * @param shell may have libpq's variables, which count where the URL says nothing
 */
export function toDriverUrl(text: string, shell: Environment = {}): string {
  const { address, parameters } = parse(text);
  for (const [variable, name] of Object.entries(libpqVariables)) {
    const value = shell[variable];
    if (value && !parameters.has(name) && !fallsBack(value)) parameters.set(name, value);
  }
  // PostgreSQL 16's libpq: the system's certificates, and no other mode than this.
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert');
    parameters.set('sslmode', 'verify-full');
  }
  if (parameters.has('sslmode')) parameters.set('uselibpqcompat', 'true');
  parameters.set('options', [parameters.get('options'), pinned].filter(Boolean).join(' '));
  return format(decodeName(address), parameters);
}

/** The same for libpq, such as psql's: what {@link toDriverUrl} has added is left out. */
export function toLibpqUrl(text: string): string {
  const { address, parameters } = parse(text);
  parameters.delete('uselibpqcompat');
  const options = parameters.get('options')?.replace(pinned, '').trim();
  if (options) parameters.set('options', options);
  else parameters.delete('options');
  return format(address, parameters);
}

/** Why the driver cannot use a URL with the shell's variables, in words for its owner; null when it can. */
export function problemOfConnectionUrl(text: string, shell: Environment): string | null {
  const url = toDriverUrl(text, shell);
  const mode = parse(url).parameters.get('sslmode');
  if (mode !== null && fallsBack(mode))
    return `sslmode=${mode} falls back to no encryption, and so does not protect the connection; say require, verify-ca or verify-full, or disable`;
  if (mode !== null && !tlsModes.has(mode)) return `sslmode must be one of ${[...tlsModes].join(', ')}`;
  if (/(?<=^\w+:\/\/[^/]*\/).*%(3F|23)/is.test(parse(url).address))
    return 'names a database with ? or #, which the driver cannot reach';
  try {
    const { host } = new Client({ connectionString: url });
    return host.includes(',')
      ? 'names several hosts; the driver takes one, such as that of a proxy in front of them'
      : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'EISDIR')) return 'names a certificate whose file cannot be read';
    if (mode === 'verify-ca') return 'sslmode=verify-ca needs sslrootcert=<file>, the certificates of its authority';
    return 'has a parameter that the driver does not understand';
  }
}

/** The driver decodes a database's name by `decodeURI`, which leaves what separates the parts of a URL. In a path, these may stand as they are. */
const decodeName = (address: string): string =>
  address.replace(/(?<=^\w+:\/\/[^/]*\/).*/s, (name) => name.replace(/%(?:2[46BCF]|3[ABD]|40)/gi, decodeURIComponent));

function parse(text: string): { readonly address: string; readonly parameters: URLSearchParams } {
  const [, address = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(text) ?? [];
  return { address, parameters: new URLSearchParams(query) };
}

function format(address: string, parameters: URLSearchParams): string {
  // libpq reads no plus sign as a space.
  return parameters.size > 0 ? `${address}?${parameters.toString().replaceAll('+', '%20')}` : address;
}

const tlsModes: ReadonlySet<string> = new Set(['disable', 'require', 'verify-ca', 'verify-full']);
/** libpq's default, which is the same as to say nothing here. */
const fallsBack = (mode: string) => mode === 'prefer' || mode === 'allow';

/** PostgreSQL splits them at spaces; a backslash keeps one. */
const pinned = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ');
