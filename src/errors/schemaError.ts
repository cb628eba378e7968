import { StartupError } from './startupError.ts';

/** The database does not give a schema: two of its names meet in GraphQL, or a comment says what cannot be. */
export class SchemaError extends StartupError {
  override name = 'SchemaError';
  /** The objects that the message names, such as `app_public.gates` or `app_public.gates.first_name`. */
  readonly objects: readonly string[];

  constructor(message: string, objects: readonly string[], options: ErrorOptions) {
    super(`The schema cannot be built: ${message}`, options);
    this.objects = objects;
  }
}
