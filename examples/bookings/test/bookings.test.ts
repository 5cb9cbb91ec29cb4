import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openBookings } from '../src/handlers.ts';

const document = 'openapi.yaml';
const { handlers, close } = await openBookings(':memory:');
after(() => close?.());
const log = testLog();
const app = await createApp({ document, handlers, log, accessTokens: ['token'] });
const api = await testClient<operations>(app, {
  document,
  headers: { Authorization: 'Bearer token' },
});

test('a room is booked once a day, and is not deleted while it is booked', async () => {
  const room = await api.createRoom({
    body: { name: 'Garden', beds: 2, amenities: ['wifi', 'desk'] },
  });
  if (room.status !== 201) throw new Error('not created');
  const path = { roomId: room.body.id };
  const body = { day: '2026-12-24', guest: 'Ann' };
  const booked = await api.createBooking({ path, body });
  if (booked.status !== 201) throw new Error('not booked');
  equal((await api.createBooking({ path, body })).status, 409);
  equal((await api.deleteRoom({ path })).status, 409);
  deepEqual((await api.listRooms({ query: { beds: 2, amenities: ['wifi', 'desk'] } })).body, [
    room.body,
  ]);
  equal((await api.cancelBooking({ path: { bookingId: booked.body.id } })).status, 204);
  equal((await api.deleteRoom({ path })).status, 204);
});

await contractTests({ document, app, log, credentials: 'token', test });
