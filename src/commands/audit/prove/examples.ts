import type { Examples } from 'rls-prover';
import { exampleId, insertExamples } from '../insertExamples.ts';

/** The rows of `insertExamples`, and those as whom the prover tries to break an invariant. */
export const examples: Examples = {
  insert: insertExamples,
  rows: 'aaaaaaaa-0000-7000-8000|bbbbbbbb-0000-7000-8000',
  // A person of the first organization, its application, another person, no claims, and partial claims.
  principals: [
    { name: 'of A0 as user A1', claims: claimsOf('a0', 'a1', 'a1') },
    { name: 'of A0', claims: claimsOf('a0', 'a1', '') },
    { name: 'of A0 as user A2', claims: claimsOf('a0', 'a1', 'a2') },
    { name: 'without claims', claims: claimsOf('', '', '') },
    { name: 'as user A1 without claims', claims: claimsOf('', 'a1', 'a1') },
  ],
  shorten: (id) =>
    id.replace(/^(.)\1{7}-.*(\d)$/, (_, letter: string, number: string) => letter.toUpperCase() + number),
};

/** Each as the letter of its organization and its number. */
function claimsOf(organization: string, application: string, user: string) {
  const id = ([letter, number]: string) => (letter ? exampleId(letter, Number(number)) : '');
  return { organization_id: id(organization), application_id: id(application), user_id: id(user) };
}
