import { serve } from 'spec-first-server';
import { openBooks } from './handlers.ts';

const variables = {
  DATABASE_FILE: {
    default: 'data/books.db',
    description: 'the SQLite file of the books',
    parse: String,
  },
};

await serve({ variables, open: ({ DATABASE_FILE }) => openBooks(DATABASE_FILE) });
