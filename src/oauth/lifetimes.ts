/** How long what the OAuth server issues lives, by PostgreSQL's clock: the one place to change it. */
export const lifetimes = {
  /** `expires_in`. Reasons in `audit.accepted` (…-accepted-findings.sql) name it, and `codeSeconds`. */
  accessTokenSeconds: 7200,
  /** A refresh token that is not used for so long ends. */
  refreshTokenIdleDays: 30,
  /** A grant cannot be renewed so long after its first refresh token, however busy it was. */
  refreshTokenAbsoluteDays: 90,
  /** A client that lost the reply may use its refresh token again for so long, and gets the same reply. */
  refreshReplaySeconds: 60,
  /** How long a client has to exchange an authorization code. */
  codeSeconds: 60,
  /**
   * How long the second use of a code is noticed, after it expired:
   * in a policy (…-authorization-codes.sql) and in `oauth.purge_authorization_codes` (…-purge.sql).
   */
  codeReplayDays: 1,
  /** How long a consent screen may be answered. */
  consentMinutes: 10,
  /** A session is absolute: the password is required again after a working day, however active it was. */
  sessionSeconds: 8 * 60 * 60,
  /** How long an address is known from which an account has signed in. */
  knownAddressSeconds: 90 * 86_400,
} as const;
