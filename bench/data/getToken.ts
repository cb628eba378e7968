/** An access token; of the application itself unless a person's credentials are given. */
export async function getToken(
  url: string,
  client: { client_id: string; client_secret: string },
  person?: Record<string, string>,
): Promise<string> {
  const form = new URLSearchParams({ grant_type: person ? 'password' : 'client_credentials', ...client, ...person });
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: form });
  return ((await response.json()) as { access_token: string }).access_token;
}
