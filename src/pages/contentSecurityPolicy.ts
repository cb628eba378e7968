/**
 * The policy of a page: files of this service, no inline script, no `eval`, no frame.
 * Each of `relaxed` replaces the sources of one directive; its caller names the tool that needs it.
 */
export function contentSecurityPolicy(relaxed: Partial<Record<keyof typeof strict, string>> = {}): string {
  return Object.entries({ ...strict, ...relaxed })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}

const strict = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
  'worker-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};
