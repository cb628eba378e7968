import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';
import { driverOf } from './driver.ts';

export const socketOf = (client: ClientBase): Socket => driverOf(client).connection.stream;
