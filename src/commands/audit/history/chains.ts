import type { ClientBase } from 'pg';
import { addToChain, type Chain, type Entry } from './hashes.ts';

/**
 * The hash chains of one seal, one of each organization and month.
 * Each continues the head that an earlier seal has left. So when a month is dropped, the chains of the other months stay complete.
 */
export class Chains {
  readonly #client: ClientBase;
  readonly #seal: number;
  readonly #chains = new Map<string, Chain>();

  constructor(client: ClientBase, seal: number) {
    this.#client = client;
    this.#seal = seal;
  }

  async add({ organizationId, month }: Entry, hash: Buffer): Promise<void> {
    const key = keyOf({ organizationId, month });
    const chain = this.#chains.get(key);
    if (chain) {
      chain.head = addToChain(chain.head, hash);
      chain.entries += 1;
    } else {
      const head = addToChain(await this.#headBefore(organizationId, month), hash);
      this.#chains.set(key, { organizationId, month, entries: 1, head });
    }
  }

  get(chain: Pick<Chain, 'organizationId' | 'month'>): Chain | undefined {
    return this.#chains.get(keyOf(chain));
  }

  /** The chains in the order in which they are hashed. */
  list(): Chain[] {
    return [...this.#chains].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, chain]) => chain);
  }

  async #headBefore(organizationId: string, month: string): Promise<Buffer | undefined> {
    const { rows } = await this.#client.query<{ head: Buffer }>(
      `select head from audit.chains
       where organization_id = $1 and month = $2 and seal < $3
       order by seal desc
       limit 1`,
      [organizationId, month, this.#seal],
    );
    return rows[0]?.head;
  }
}

const keyOf = ({ organizationId, month }: Pick<Chain, 'organizationId' | 'month'>) => `${organizationId} ${month}`;
