import { openDatabase } from 'group-commit/sqlite';
import { type Backend, HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

export async function openBookings(file: string): Promise<Backend & { handlers: Handlers }> {
  const module = new URL('./database.ts', import.meta.url);
  const database = await openDatabase<typeof import('./database.ts').default>({ file, module });

  const handlers: Handlers = {
    async listRooms({ query: { beds, amenities = [], after, limit } }) {
      return { status: 200, body: await database.read('rooms', beds, amenities, after, limit) };
    },
    async createRoom({ body }) {
      return { status: 201, body: await database.write('addRoom', body) };
    },
    async getRoom({ path: { roomId } }) {
      return { status: 200, body: existing(await database.read('room', roomId)) };
    },
    async updateRoom({ path: { roomId }, body }) {
      return { status: 200, body: existing(await database.write('changeRoom', roomId, body)) };
    },
    async deleteRoom({ path: { roomId } }) {
      if (await database.write('removeRoom', roomId)) return { status: 204 };
      existing(await database.read('room', roomId));
      throw new HttpError(409, 'the room is booked');
    },
    async listBookings({ path: { roomId }, query: { after = '', limit } }) {
      existing(await database.read('room', roomId));
      return { status: 200, body: await database.read('bookings', roomId, after, limit) };
    },
    async createBooking({ path: { roomId }, body }) {
      const booking = await database.write('book', roomId, body);
      if (booking !== undefined) return { status: 201, body: booking };
      existing(await database.read('room', roomId));
      throw taken();
    },
    async getBooking({ path: { bookingId } }) {
      return { status: 200, body: existing(await database.read('booking', bookingId)) };
    },
    async moveBooking({ path: { bookingId }, body }) {
      const booking = await database.write('move', bookingId, body);
      if (booking !== undefined) return { status: 200, body: booking };
      existing(await database.read('booking', bookingId));
      throw taken();
    },
    async cancelBooking({ path: { bookingId } }) {
      if (!(await database.write('cancel', bookingId))) throw notFound();
      return { status: 204 };
    },
  };
  const { location, ready, stats, close } = database;
  return { handlers, location, ready, stats, close };
}

const notFound = () => new HttpError(404, 'there is no room or booking with this id');
const taken = () => new HttpError(409, 'the room is taken on that day');

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}
