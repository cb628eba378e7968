/** A person of the examples. Rows of different persons have nothing to do with each other, but those of a team. */
export type Person = {
  readonly name: string;
  /** The first group of the person's UUIDs. */
  readonly letter: string;
  readonly number: number;
  /** Whose team and other things that belong to nobody the person shares. */
  readonly joins?: string;
  /** What the person is in the whole application, and what in the person's own team. */
  readonly isPrivileged: { readonly everywhere: boolean; readonly inTeam: boolean };
};

/**
 * Ann is a member of her team, and Bob is the owner of his. Cyd may everything: nobody acts as she, but others may try to become like her.
 * Dee is in Ann's team.
 */
export const people: readonly Person[] = [
  { name: 'Ann', letter: 'a', number: 1, isPrivileged: { everywhere: false, inTeam: false } },
  { name: 'Bob', letter: 'b', number: 2, isPrivileged: { everywhere: false, inTeam: true } },
  { name: 'Cyd', letter: 'c', number: 3, isPrivileged: { everywhere: true, inTeam: true } },
  { name: 'Dee', letter: 'd', number: 4, joins: 'Ann', isPrivileged: { everywhere: false, inTeam: false } },
];

/** Those as whom commands are tried. */
export const principals = people.filter(({ name }) => name === 'Ann' || name === 'Bob');

export const uuidOf = ({ letter }: Person, number: number) =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Matches the JSON of what is invented, and hardly anything else. */
export const invented =
  '(aaaaaaaa|bbbbbbbb|cccccccc|dddddddd)-0000-4000-8000-|[ -](Ann|Bob|Cyd|Dee)\\M|900000[0-9][0-9][1234]';

/** Values that say more by a word than by their characters. */
export const shorten = (value: string): string =>
  value.replace(/^(.)\1{7}-0000-4000-8000-0*(\d+)$/, (whole, letter: string, number: string) => {
    const person = people.find((one) => one.letter === letter);
    return person ? `${person.name}-${number}` : whole;
  });
