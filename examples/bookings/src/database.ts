import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];
type Row = Record<string, SQLOutputValue>;

const roomOf = ({ id, name, beds, amenities }: Row): Schemas['Room'] => ({
  id: Number(id),
  name: String(name),
  beds: Number(beds),
  amenities: JSON.parse(String(amenities)),
});
const bookingOf = ({ id, room, day, guest }: Row): Schemas['Booking'] => ({
  id: Number(id),
  roomId: Number(room),
  day: String(day),
  guest: String(guest),
});

/** Runs in the thread of the database. Waiting calls share a commit. */
export default function bookings(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE IF NOT EXISTS rooms (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, beds INTEGER NOT NULL, amenities TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS bookings (
      id INTEGER PRIMARY KEY, room INTEGER NOT NULL, day TEXT NOT NULL, guest TEXT NOT NULL,
      UNIQUE (room, day)
    ) STRICT`);
  const insertRoom = db.prepare(
    'INSERT INTO rooms (name, beds, amenities) VALUES (?, ?, ?) RETURNING *',
  );
  const updateRoom = db.prepare(
    'UPDATE rooms SET name = ?, beds = ?, amenities = ? WHERE id = ? RETURNING *',
  );
  const roomById = db.prepare('SELECT * FROM rooms WHERE id = ?');
  const roomsByBeds = db.prepare('SELECT * FROM rooms WHERE beds >= ? ORDER BY id LIMIT 1000');
  const deleteRoom = db.prepare('DELETE FROM rooms WHERE id = ?');
  const insertBooking = db.prepare(
    'INSERT INTO bookings (room, day, guest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING *',
  );
  const moveBooking = db.prepare(
    'UPDATE OR IGNORE bookings SET day = ?, guest = ? WHERE id = ? RETURNING *',
  );
  const bookingById = db.prepare('SELECT * FROM bookings WHERE id = ?');
  const bookingsByRoom = db.prepare('SELECT * FROM bookings WHERE room = ? ORDER BY day');
  const deleteBooking = db.prepare('DELETE FROM bookings WHERE id = ?');
  const converted = <T>(row: Row | undefined, read: (row: Row) => T): T | undefined =>
    row && read(row);

  return {
    addRoom: ({ name, beds, amenities = [] }: Schemas['NewRoom']) =>
      converted(insertRoom.get(name, beds, JSON.stringify(amenities)), roomOf),
    changeRoom: (id: number, { name, beds, amenities = [] }: Schemas['NewRoom']) =>
      converted(updateRoom.get(name, beds, JSON.stringify(amenities), id), roomOf),
    room: (id: number) => converted(roomById.get(id), roomOf),
    rooms: (beds: number) => roomsByBeds.all(beds).map(roomOf),
    removeRoom: (id: number) => deleteRoom.run(id).changes === 1,
    /** Returns `undefined` if the room is taken on that day. */
    book: (room: number, { day, guest }: Schemas['NewBooking']) =>
      converted(insertBooking.get(room, day, guest), bookingOf),
    /** Returns `undefined` if the room is taken on that day, or if there is no such booking. */
    move: (id: number, { day, guest }: Schemas['NewBooking']) =>
      converted(moveBooking.get(day, guest, id), bookingOf),
    booking: (id: number) => converted(bookingById.get(id), bookingOf),
    bookings: (room: number) => bookingsByRoom.all(room).map(bookingOf),
    cancel: (id: number) => deleteBooking.run(id).changes === 1,
  };
}
