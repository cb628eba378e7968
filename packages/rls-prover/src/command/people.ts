/** A person in the examples. Only a team connects the rows of two persons. */
export type Person = {
  readonly name: string;
  /** The first group of the person's UUIDs. */
  readonly letter: string;
  readonly number: number;
  /** The person whose team this person is in. They share all rows that no column connects with one of them. */
  readonly joins?: string;
  /** Whether the person is privileged in the whole application, and in their own team. */
  readonly isPrivileged: { readonly everywhere: boolean; readonly inTeam: boolean };
};

/**
 * Ann is a member of her team. Bob is the owner of another team. Dee is in Ann's team. Cyd has all privileges: no command is tried as Cyd,
 * but Ann and Bob try to get what she has.
 */
export const people: readonly Person[] = [
  { name: 'Ann', letter: 'a', number: 1, isPrivileged: { everywhere: false, inTeam: false } },
  { name: 'Bob', letter: 'b', number: 2, isPrivileged: { everywhere: false, inTeam: true } },
  { name: 'Cyd', letter: 'c', number: 3, isPrivileged: { everywhere: true, inTeam: true } },
  { name: 'Dee', letter: 'd', number: 4, joins: 'Ann', isPrivileged: { everywhere: false, inTeam: false } },
];

/** The persons who are clients: commands are tried with their claims. */
export const principals = people.filter(({ name }) => name === 'Ann' || name === 'Bob');

export const uuidOf = ({ letter }: Person, number: number) =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Matches the JSON of invented rows. A row of another origin hardly ever matches. */
export const invented =
  '(aaaaaaaa|bbbbbbbb|cccccccc|dddddddd)-0000-4000-8000-|[ -](Ann|Bob|Cyd|Dee)\\M|900000[0-9][0-9][1234]';

/** Writes an invented id by its person, as `Ann-3`. */
export const shorten = (value: string): string =>
  value.replace(/^(.)\1{7}-0000-4000-8000-0*(\d+)$/, (whole, letter: string, number: string) => {
    const person = people.find((one) => one.letter === letter);
    return person ? `${person.name}-${number}` : whole;
  });
