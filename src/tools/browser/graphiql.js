import { readSettings } from './settings.js';

/** @type {{ endpoint: string, ruruPath: string }} */
const { endpoint, ruruPath } = readSettings();

// Monaco reads it when it is imported.
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: true,
    getWorker: (/** @type {string} */ _, /** @type {string} */ label) =>
      new Worker(`${ruruPath}${workers[label] ?? 'editorWorker.js'}`, { type: 'module' }),
  },
});

/** @type {Record<string, string>} */
const workers = { json: 'jsonWorker.js', graphql: 'graphqlWorker.js' };

const { React, createRoot, Ruru } = await import(`${ruruPath}ruru.js`);
createRoot(document.getElementById('ruru-root')).render(
  React.createElement(Ruru, { endpoint, debugTools: [], showPersistHeadersSettings: false }),
);
