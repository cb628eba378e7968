import { parseArgs } from 'node:util';
import { type OperationName, operationNames } from './operations.ts';
import { type PeerName, peerNames } from './servers/startPeer.ts';

export type Options = {
  /** Compares data sets instead of peers. */
  readonly large: boolean;
  readonly peers: readonly PeerName[];
  readonly operations: readonly OperationName[];
  readonly rounds: number;
  /** How long each peer serves each operation in a round. */
  readonly seconds: number;
  /** As many requests are in flight at any time. */
  readonly connections: number;
};

/** The options of the command line. @throws when one is unknown or wrong */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: 'string', default: peerNames.join(',') },
      query: { type: 'string', default: operationNames.join(',') },
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '32' },
    },
  });
  if (positionals.some((word) => word !== 'large')) throw new Error(`${positionals.join(' ')}: only "large" is known.`);
  return {
    large: positionals.length > 0,
    peers: namesIn(values.only, '--only', peerNames),
    operations: namesIn(values.query, '--query', operationNames),
    rounds: numberIn(values.rounds, '--rounds'),
    seconds: numberIn(values.seconds, '--seconds'),
    connections: numberIn(values.connections, '--connections'),
  };
}

function namesIn<Name extends string>(text: string, option: string, known: readonly Name[]): readonly Name[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`${option}: ${unknown.join(', ')} is none of ${known.join(', ')}.`);
  return known.filter((name) => names.includes(name));
}

function numberIn(text: string, option: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${option}: ${text} is not a number above 0.`);
  return number;
}
