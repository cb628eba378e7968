/** The lifetimes of what the OAuth server issues, by PostgreSQL's clock, in one place. */
export const lifetimes = {
  /** `expires_in`. Reasons in `audit.accepted` (…-accepted-findings.sql) name it, and `codeSeconds`. */
  accessTokenSeconds: 7200,
  /** A refresh token ends after so long without use. */
  refreshTokenIdleDays: 30,
  /** A grant cannot be renewed so long after its first refresh token, however often it was used. */
  refreshTokenAbsoluteDays: 90,
  /** A client that lost the reply may send its refresh token again for so long, and gets the same reply. */
  refreshReplaySeconds: 60,
  /** How long a client has to exchange an authorization code. */
  codeSeconds: 60,
  /**
   * How long after its expiry a second use of a code is noticed.
   * A policy (…-authorization-codes.sql) and `oauth.purge_rows` (…-purge.sql) have it, too.
   */
  codeReplayDays: 1,
  /** How long a consent screen may be answered. */
  consentMinutes: 10,
  /** A session is absolute: after a working day the password is required again, however active it was. */
  sessionSeconds: 8 * 60 * 60,
  /** How long an address from which an account has signed in is remembered. */
  knownAddressSeconds: 90 * 86_400,
} as const;
