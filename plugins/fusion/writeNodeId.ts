import { isUuid } from '../NodeIdPlugin.ts';
import { computeStep } from './computeStep.ts';
import type { Step } from './internals.ts';
import { startOfBase64 } from './JsonWriter.ts';
import type { Scope, Write } from './Scope.ts';

/** A global id, as `encodeNodeId` in NodeIdPlugin has it, but without a list and texts for each one where the type is known. */
export function writeNodeId(step: Step, scope: Scope): Write {
  const id = computeStep(step, scope);
  const plain: Write = (frame, json) => {
    const text = id(frame);
    return text === null ? json.null() : json.json(`"${text}"`);
  };
  const [pair] = step.dependencies;
  const [type, key, ...more] = pair?.constructor.name === 'ListStep' ? pair.dependencies : [];
  if (type?.constructor.name !== 'ConstantStep' || !key || more.length > 0) return plain;

  const start = startOfBase64(`${(type as Step & ConstantStep).data}:`);
  const uuid = computeStep(key, scope);
  return (frame, json) => {
    const text = uuid(frame);
    return isUuid(text) ? json.base64(start, text) : plain(frame, json);
  };
}

type ConstantStep = { readonly data: unknown };
