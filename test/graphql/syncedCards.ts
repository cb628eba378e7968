import type { Tenant } from './support.ts';
import { asOwner, type SyncResult } from './sync.ts';

/** Rows of a sync: one of each type of card. */
export const [chip, otherChip] = ['04A224B2C13A80', '04A224B2'];
export const beacon = { proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 65535 };
export const badge = { externalIdentifier: 'badge', name: 'Badge', nfcIdentifier: chip };
export const phone = { externalIdentifier: 'phone', name: 'Phone', beacon };
export const code = { externalIdentifier: 'code', name: 'PIN' };

export const outcomeOf = ({ outcome, error }: SyncResult) => [outcome, error?.code, error?.argument];

type CardRow = { type: string; chip: string | null; major: number | null; holders: string[] };
/** The cards' rows with their versions and those of their holders, by external identifier. */
export const cardRows = async (tenant: Tenant): Promise<Record<string, CardRow>> =>
  Object.fromEntries(
    (
      await asOwner<CardRow & { name: string }>(
        tenant,
        `select c.external_identifier as name, c.xmin, c.type, c.nfc_identifier as chip, c.major, c.updated_at,
           array(select a.xmin || ' ' || u.external_identifier from app_public.card_assignments a
             join app_public.users u on u.id = a.user_id where a.card_id = c.id order by 1) as holders
         from app_public.cards c where c.organization_id = $1 order by 1`,
      )
    ).map(({ name, ...row }) => [name, row]),
  );

/** The external identifiers of those who have the card. */
export const holdersOf = async (tenant: Tenant, name: string): Promise<string[]> =>
  (
    await asOwner<{ name: string }>(
      tenant,
      `select u.external_identifier as name from app_public.card_assignments a
       join app_public.users u on u.id = a.user_id join app_public.cards c on c.id = a.card_id
       where a.organization_id = $1 and c.external_identifier = '${name}' order by 1`,
    )
  ).map(({ name }) => name);
