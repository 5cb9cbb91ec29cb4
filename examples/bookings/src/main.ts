import { serve } from 'spec-first-server';
import { openBookings } from './handlers.ts';

const variables = {
  DATABASE_FILE: { default: 'data/bookings.db', description: 'the SQLite file', parse: String },
};

await serve({ variables, open: ({ DATABASE_FILE }) => openBookings(DATABASE_FILE) });
