import type { Pool } from 'pg';
import type { Log } from '../log.ts';
import { noRequest } from '../observability/requestFields.ts';
import { repeat } from '../repeat.ts';
import { oauthSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';
import { createUses } from './uses.ts';

/** Write-behind: adds new uses to audit.uses every ten seconds, and at the end. */
export function startRecordingUses(pool: Pool, log: Log) {
  const uses = createUses();
  const record = async () => {
    const taken = uses.take();
    if (taken.length === 0) return;
    try {
      const values = [taken.map(({ role }) => role), taken.map(({ text }) => text)];
      await queryOnce(pool, oauthSettings(null, noRequest), { text: 'select oauth.note_uses($1, $2)', values });
    } catch (error) {
      uses.forget(taken);
      log.debug({ error }, 'what was used is not noted yet');
    }
  };
  const recording = repeat(record, everyMs, everyMs);

  return {
    async stop(): Promise<void> {
      await recording.stop();
      uses.stop();
      await record();
    },
  };
}

const everyMs = 10_000;
