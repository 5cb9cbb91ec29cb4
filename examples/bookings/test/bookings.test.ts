import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openBookings } from '../src/handlers.ts';

const document = 'openapi.yaml';
const { handlers, close } = await openBookings(':memory:');
after(() => close?.());
const app = await createApp({ document, handlers, accessTokens: ['token'] });
const api = await testClient<operations>(app, {
  document,
  headers: { Authorization: 'Bearer token' },
});

test('a room has one booking a day at most, and is not deleted while it is booked', async () => {
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

test('rooms and bookings are listed in pages, and their ids are not used again', async () => {
  const rooms: number[] = [];
  for (const amenities of [['desk' as const], ['bath' as const], ['desk' as const]]) {
    const room = await api.createRoom({ body: { name: 'Attic', beds: 9, amenities } });
    if (room.status !== 201) throw new Error('not created');
    rooms.push(room.body.id);
  }
  const [roomId = 0, , third = 0] = rooms;
  const desks = { beds: 9, amenities: ['desk' as const], limit: 1 };
  const idsOf = (body: unknown) => Object.values(Object(body)).map((item) => Object(item).id);
  deepEqual(idsOf((await api.listRooms({ query: desks })).body), [roomId]);
  deepEqual(idsOf((await api.listRooms({ query: { ...desks, after: roomId } })).body), [third]);

  const path = { roomId };
  const bookings: number[] = [];
  for (const day of ['2027-01-02', '2027-01-01']) {
    const booked = await api.createBooking({ path, body: { day, guest: 'Ann' } });
    if (booked.status !== 201) throw new Error('not booked');
    bookings.unshift(booked.body.id);
  }
  const [first = 0, second = 0] = bookings;
  deepEqual(idsOf((await api.listBookings({ path, query: { limit: 1 } })).body), [first]);
  const query = { after: '2027-01-01' };
  deepEqual(idsOf((await api.listBookings({ path, query })).body), [second]);

  equal((await api.cancelBooking({ path: { bookingId: first } })).status, 204);
  const later = await api.createBooking({ path, body: { day: '2027-01-03', guest: 'Bob' } });
  equal(bookings.includes(Object(later.body).id), false);
  for (const id of [third, rooms[1] ?? 0])
    equal((await api.deleteRoom({ path: { roomId: id } })).status, 204);
});

test('concurrent requests leave no booking without a room', async () => {
  for (let round = 0; round < 10; round += 1) {
    const room = await api.createRoom({ body: { name: 'Garden', beds: 2, amenities: [] } });
    if (room.status !== 201) throw new Error('not created');
    const path = { roomId: room.body.id };
    const [booked, deleted] = await Promise.all([
      api.createBooking({ path, body: { day: '2026-12-24', guest: 'Ann' } }),
      api.deleteRoom({ path }),
    ]);
    const expected = booked.status === 201 ? [201, 409] : [404, 204];
    deepEqual([booked.status, deleted.status], expected);
  }
});
