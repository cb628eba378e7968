import { stripTypeScriptTypes } from 'node:module';

/** Jest's transform: the same removal of types with which node runs the files. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
