/**
 * Rules of section 4 that the service does not have yet: the schema has no constraint for them.
 * Each is switched on in the change that makes the service follow it.
 */

/** "`nfcIdentifier` … unique in its organization, as a beacon's three values are together." */
export const chipsAreUnique: boolean = false;

/** "An NFC or beacon card has at most one holder (a second `cardAssign`: `CONFLICT`)." */
export const badgesHaveOneHolder: boolean = false;
