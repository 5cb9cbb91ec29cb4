import { serve } from 'spec-first-server';
import { openNotes } from './handlers.ts';

const variables = {
  DATABASE_URL: {
    default: 'postgres://127.0.0.1/notes',
    description: 'postgres://USER:PASSWORD@HOST/DATABASE',
    parse: String,
  },
};

await serve({ variables, open: ({ DATABASE_URL }) => openNotes(DATABASE_URL) });
