import { createPasswords } from '../../src/oauth/passwords.ts';

const cost = { memoryKib: 32, passes: 1 };

/** Passwords hashed at argon2's least cost: what production's costs is asserted in one place, `oauth/passwordHash`. */
export const testPasswords = createPasswords(cost);

/** The same as environment variables. */
export const testPasswordCost = { ARGON2_MEMORY_KIB: String(cost.memoryKib), ARGON2_PASSES: String(cost.passes) };
