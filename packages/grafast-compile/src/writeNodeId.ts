import { computeStep } from './computeStep.ts';
import { type ConstantStep, classOf, type Step, type StepClass } from './internals.ts';
import { startOfBase64 } from './JsonWriter.ts';
import type { LayerCompiler, Write } from './LayerCompiler.ts';

/** An id without a list and texts for each object where the type is known. */
export function writeNodeId(step: Step, compiler: LayerCompiler): Write {
  const id = computeStep(step, compiler);
  const plain: Write = (registers, json) => {
    const text = id(registers);
    return text === null ? json.null() : json.json(`"${text}"`);
  };
  const [pair] = step.dependencies;
  const [type, key, ...more] = pair && isOf('ListStep', pair) ? pair.dependencies : [];
  if (!type || !isOf('ConstantStep', type) || !key || more.length > 0) return plain;

  const start = startOfBase64(`${(type as Step & ConstantStep).data}:`);
  const keyOf = computeStep(key, compiler);
  return (registers, json) => {
    const text = keyOf(registers);
    return isUuid(text) ? json.base64(start, text) : plain(registers, json);
  };
}

const isOf = (name: StepClass, step: Step) => classOf(step) === name;

/** As PostgreSQL writes it. */
const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && value.length === 36 && uuid.test(value);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
