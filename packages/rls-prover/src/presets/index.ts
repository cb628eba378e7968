import { postgraphile } from './postgraphile.ts';
import { postgrest } from './postgrest.ts';
import type { Preset } from './preset.ts';
import { supabase } from './supabase.ts';

export const presets: ReadonlyMap<string, Preset> = new Map(
  [supabase, postgrest, postgraphile].map((preset) => [preset.name, preset]),
);
