import { openDatabase } from 'group-commit/sqlite';
import { type Backend, HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

export async function openBookings(file: string): Promise<Backend & { handlers: Handlers }> {
  const module = new URL('./database.ts', import.meta.url);
  const database = await openDatabase<typeof import('./database.ts').default>({ file, module });

  const handlers: Handlers = {
    async listRooms({ query: { beds, amenities = [] } }) {
      const rooms = await database.read('rooms', beds);
      return {
        status: 200,
        body: rooms.filter((room) => amenities.every((one) => room.amenities?.includes(one))),
      };
    },
    async createRoom({ body }) {
      return { status: 201, body: existing(await database.write('addRoom', body)) };
    },
    async getRoom({ path: { roomId } }) {
      return { status: 200, body: existing(await database.read('room', roomId)) };
    },
    async updateRoom({ path: { roomId }, body }) {
      return { status: 200, body: existing(await database.write('changeRoom', roomId, body)) };
    },
    async deleteRoom({ path: { roomId } }) {
      const [booking] = await database.read('bookings', roomId);
      if (booking !== undefined) throw new HttpError(409, `the room is booked on ${booking.day}`);
      if (!(await database.write('removeRoom', roomId))) throw notFound();
      return { status: 204 };
    },
    async listBookings({ path: { roomId } }) {
      existing(await database.read('room', roomId));
      return { status: 200, body: await database.read('bookings', roomId) };
    },
    async createBooking({ path: { roomId }, body }) {
      existing(await database.read('room', roomId));
      return { status: 201, body: free(await database.write('book', roomId, body)) };
    },
    async getBooking({ path: { bookingId } }) {
      return { status: 200, body: existing(await database.read('booking', bookingId)) };
    },
    async moveBooking({ path: { bookingId }, body }) {
      existing(await database.read('booking', bookingId));
      return { status: 200, body: free(await database.write('move', bookingId, body)) };
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

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

function free<T>(booking: T | undefined): T {
  if (booking === undefined) throw new HttpError(409, 'the room is taken on that day');
  return booking;
}
