declare module 'passport-oauth2-client-password' {
  import type { Request } from 'express';

  /** Reads `client_id` and `client_secret` of `request.body`; fails when one is missing or wrong. */
  export class Strategy {
    readonly name: string;
    constructor(options: { passReqToCallback: true }, verify: Verify);
    authenticate(request: Request): void;
  }

  type Verify = (
    request: Request,
    clientId: string,
    clientSecret: string,
    done: (error: unknown, client?: unknown) => void,
  ) => void;
}
