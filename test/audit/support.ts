import type { Pool } from 'pg';
import { runAudit } from '../../src/commands/audit/runAudit.ts';
import { loadConfig } from '../../src/config.ts';
import { describeFailure, explainFailure, StartupError } from '../../src/errors/errors.ts';

/** `npm run audit -- <args>` in this process, against one database. */
export async function audit({ ownerUrl }: { ownerUrl: string }, ...args: string[]) {
  let stdout = '';
  let stderr = '';
  const { write } = process.stderr;
  process.stderr.write = (text: unknown) => {
    stderr += String(text);
    return true;
  };
  const environment = { DATABASE_URL: ownerUrl, LOG_LEVEL: 'silent' };
  try {
    const code = await runAudit(
      args,
      () => loadConfig(environment, 'migrations'),
      (text) => {
        stdout += text;
      },
    );
    return { code, stdout, error: stderr };
  } catch (error) {
    if (!(error instanceof StartupError || explainFailure(error))) throw error;
    return { code: 1, stdout, error: describeFailure(error) };
  } finally {
    process.stderr.write = write;
  }
}

/** The findings of one database, without the roles that other test files make at the same time, whose names end in random digits. */
export const findingsHere = `select name, object, detail from audit.findings where detail !~ '_[0-9a-f]{8,32} '`;

/** Statements in one transaction that is undone; what the last one returned. */
export async function undone(owner: Pool, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/**
 * A small company: Ada was granted Headquarters, which has a floor with a room; Grace was granted the Depot; Konrad nothing.
 * Ada has a badge. Rival is another organization, with one application and one person.
 */
export async function insertCompany(owner: Pool): Promise<void> {
  const acme = `'${company.acme}'`;
  await owner.query(`
    insert into app_hidden.organizations (id, name) values (${acme}, 'Acme'), ('${company.rival}', 'Rival');
    insert into oauth.applications (organization_id, id, name, client_id, scopes) values
      (${acme}, '${company.backend}', 'Acme Backend', 'acme-backend', '{app,basic}'),
      ('${company.rival}', '${company.rivalBackend}', 'Rival Backend', 'rival-backend', '{app}');
    insert into app_public.users (organization_id, id, full_name, email) values
      (${acme}, '${company.ada}', 'Ada', 'ada@acme.test'), (${acme}, '${company.grace}', 'Grace', 'grace@acme.test'),
      (${acme}, '${company.konrad}', 'Konrad', 'konrad@acme.test'),
      ('${company.rival}', '${company.mallory}', 'Mallory', 'mallory@rival.test');
    insert into app_public.units (organization_id, id, name) values
      (${acme}, '${company.headquarters}', 'Headquarters'), (${acme}, '${company.depot}', 'Depot');
    insert into app_public.units (organization_id, id, parent_id, name) values
      (${acme}, '${company.floor}', '${company.headquarters}', 'Floor');
    insert into app_public.units (organization_id, id, parent_id, name) values
      (${acme}, '${company.room}', '${company.floor}', 'Room');
    insert into app_hidden.unit_access (organization_id, user_id, unit_id) values
      (${acme}, '${company.ada}', '${company.headquarters}'), (${acme}, '${company.grace}', '${company.depot}');
    insert into app_public.cards (organization_id, id, type, name) values (${acme}, '${company.badge}', 'IdentificationCode', 'Badge');
    insert into app_public.card_assignments (organization_id, id, user_id, card_id) values
      (${acme}, '${company.assignment}', '${company.ada}', '${company.badge}');`);
}

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

export const company = {
  ...{ acme: id(1), rival: id(2), backend: id(3), rivalBackend: id(4) },
  ...{ ada: id(11), grace: id(12), konrad: id(13), mallory: id(14) },
  ...{ headquarters: id(21), floor: id(22), room: id(23), depot: id(24) },
  ...{ badge: id(31), assignment: id(32) },
};
