import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../../plugins/constraintRules.ts';
import type { Config } from '../../config.ts';
import { logUnavailable } from '../../database/pool/logUnavailable.ts';
import { chooseEncoding, createEncoder, type Encoded } from '../../http/compression.ts';
import { requestIdOf } from '../../http/middleware.ts';
import type { Log } from '../../log.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { presentError } from '../errors.ts';
import type { Answer } from '../execution/answer.ts';
import { toBody } from '../execution/answerBody.ts';
import { toEventStream } from '../stream/eventStream.ts';
import { toErrorResponse } from './errorResponse.ts';
import { wantsEvents } from './negotiate.ts';

/** Sends answers and refusals, in the media type and encoding that the client asks for. */
export function createAnswerSender({ extensions }: GraphQLSchema, config: Config, log: Log) {
  const rules = extensions.constraintRules as ConstraintRules;
  const encode = createEncoder();

  /**
   * Sends an answer, compressed if the client accepts that.
   * No browser adds a credential to these requests by itself, so BREACH has no victim here.
   */
  const send = async (request: IncomingMessage, response: ServerResponse, answer: Answer) => {
    const { status, body, headers = {}, encoded } = wantsEvents(response) ? toEventStream(answer) : answer;
    if (status === 503) response.setHeader('Retry-After', '2');
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    const { encoding, content } = encoded ?? (await encode(body, () => chooseEncoding(request)));
    if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Length', Buffer.byteLength(content));
    response.end(content);
    if (encoded) freeOnClose(response, encoded);
  };

  const refuse = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    // The client could not parse a second answer.
    if (response.headersSent) return void response.destroy();
    const requestId = requestIdOf(response);
    const { status, headers = {}, errors, total } = toErrorResponse(error, response, config);
    if (status === 503) logUnavailable(log, error, { requestId });
    const presented = errors.map((error) => presentError(error, { requestId, rules, log }));
    fieldsOf(response).code = String(presented[0]?.extensions?.code);
    void send(request, response, { status, headers, body: toBody(undefined, presented, total) });
  };

  return { send, refuse };
}

/** Frees a long answer when it is sent: V8 collects this thread's heap, which has only a reference, too rarely. */
function freeOnClose(response: ServerResponse, { content }: Encoded): void {
  const free = () => {
    if (content instanceof Uint8Array && content.buffer instanceof ArrayBuffer) content.buffer.transfer(0);
  };
  if (response.closed) free();
  else response.once('close', free);
}
