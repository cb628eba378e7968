import type { Request, Response } from 'express';

/** The client's redirect URI, and the `state` to send back to it. */
export type ReplyTo = { readonly redirectUri: string; readonly state: string | undefined };

export type AnswerClient = ReturnType<typeof createAnswerClient>;

/** Sends the person back with an answer (RFC 6749 4.1.2, 4.1.2.1) that names us (RFC 9207). */
export function createAnswerClient(issuer: string) {
  return (request: Request, response: Response, { redirectUri, state }: ReplyTo, answer: Record<string, string>) => {
    const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
    sendTo(request, response, `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters}`);
  };
}

/** 303, so that a browser follows by GET without the form; as JSON for a client that accepts it. */
export function sendTo(request: Request, response: Response, uri: string): void {
  if (wantsJson(request)) response.json({ status: 'redirect', redirect_uri: uri });
  else response.status(303).set('Location', uri).end();
}

export const wantsJson = (request: Request) => request.accepts('html', 'json') === 'json';
