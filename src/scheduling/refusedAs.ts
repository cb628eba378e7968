import { RefusedError } from 'fair-queue';

/** For `catch`: throws what a queue has refused as the caller's error, and every other error as it is. */
export const refusedAs =
  (toError: (cause: RefusedError) => Error) =>
  (error: unknown): never => {
    throw error instanceof RefusedError ? toError(error) : error;
  };
